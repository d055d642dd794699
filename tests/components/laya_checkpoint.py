"""A Laya checkpoint of three small layers with random weights, and a tokenizer trained on our states.

It is worth nothing and answers at once: what runs it, the package's loader, readout, server and training,
is the real thing.
"""

from __future__ import annotations

from pathlib import Path

from streamdecisionbench.components.contract import Request
from streamdecisionbench.components.providers.prompt import as_json
from streamdecisionbench.suite.scenario import Suite

_SPECIAL = {"unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]"}


def make_checkpoint(folder: Path, suite: Suite, *, max_len: int = 8192) -> Path:
    import torch
    from laya.common import DecisionModel
    from laya.train import save_checkpoint
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import AutoModel, ModernBertConfig, PreTrainedTokenizerFast

    trained = Tokenizer(models.BPE(unk_token=_SPECIAL["unk"]))
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    texts = [as_json(Request(s.steps[t].state, s.wire_questions())) for s in suite for t in (0, 30)]
    trained.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=list(_SPECIAL.values()),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    tok = PreTrainedTokenizerFast(
        tokenizer_object=trained, **{f"{name}_token": text for name, text in _SPECIAL.items()}
    )
    torch.manual_seed(7)
    encoder = AutoModel.from_config(
        ModernBertConfig(
            vocab_size=len(tok), hidden_size=32, intermediate_size=64, num_hidden_layers=3,
            num_attention_heads=2, max_position_embeddings=8192, local_attention=128,
            pad_token_id=tok.pad_token_id, cls_token_id=tok.cls_token_id,
            sep_token_id=tok.sep_token_id, bos_token_id=tok.cls_token_id,
            eos_token_id=tok.sep_token_id, reference_compile=False,
        ),
        attn_implementation="sdpa",
    )  # fmt: skip
    model = DecisionModel(encoder, 1, 2)
    config = {
        "encoder": "made-here", "head_layers": 1, "act_costs": {"ask": 0.1},
        "max_len": max_len, "head_max_len": 1024, "temperature": [1.0, 1.0, 1.0],
        "temperature_by_options": {},
    }  # fmt: skip
    save_checkpoint(model, tok, config, str(folder))
    return folder
