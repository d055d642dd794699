// One state at a time: what is published, what changed, the questions; an answer is on disk before the next.

const main = document.getElementById('main');
const token = new URLSearchParams(location.search).get('token') || '';
const KEYS = [...'123456789', ...'abdefghijklmopqrstvwxyz'];
/* Characters shown of a nested value before it is folded away. */
const LONG = 1500;
const FEW = 6;

let asked = null;      // what the server asked last
let chosen = Object.create(null); // question → value; a question may be called `constructor`
let other = null;      // the words of "none of these", or null
let current = 0;       // the question that number keys answer
let waiting = false;

const call = async (path, body) => {
  const reply = await fetch(path, body === undefined
    ? { headers: { 'X-Token': token }, cache: 'no-store' }
    : { method: 'POST', headers: { 'X-Token': token, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const said = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(said.error || `status ${reply.status}`), { said });
  return said;
};

// The state, with what changed since the one before.

const isMap = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const plain = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const size = (value) => plain(value).length;

/* A text line by line: lines that were there stay plain, of one that went on only what was added is new. */
const grown = (text, lines) => text.split('\n').flatMap((line, i) => {
  const had = lines.filter((one) => one && line.startsWith(one)).reduce((a, b) => (b.length > a.length ? b : a), '');
  return [i > 0 && '\n', had, line !== had && h('mark', {}, h('span', { class: 'sr' }, 'new: '), line.slice(had.length))];
});

const leaf = (value, before, had) => {
  const text = plain(value);
  if (!had || same(value, before)) return [text];
  const earlier = before === undefined ? null : plain(before);
  if (earlier && typeof value === 'string' && (text.includes('\n') || text.startsWith(earlier))) return grown(text, earlier.split('\n'));
  return [h('mark', {}, h('span', { class: 'sr' }, earlier === null ? 'new: ' : 'changed: '), text),
    earlier !== null && earlier.length <= 200 && h('del', {}, h('span', { class: 'sr' }, 'before: '), earlier)];
};

/* Which folds somebody opened or closed, by their place in the state: they stay so in the next state. */
const folds = new Map();

const folded = (title, open, path, ...children) => h('details', {
  open: folds.get(path) ?? open,
  ontoggle: (event) => { if (event.target.isConnected) folds.set(path, event.target.open); },
}, h('summary', {}, title), children);

const shown = (value, before, had, path) => {
  if (Array.isArray(value)) return listed(value, Array.isArray(before) ? before : [], had, path);
  if (isMap(value)) return mapped(value, isMap(before) ? before : {}, had, path);
  return leaf(value, before, had);
};

const nested = (value, before, had, path) => {
  const inner = shown(value, before, had, path);
  if (value === null || typeof value !== 'object' || size(value) <= LONG) return inner;
  const changed = had && !same(value, before);
  const many = Array.isArray(value) ? `${value.length} entries` : `${Object.keys(value).length} fields`;
  return folded(`${many}${changed ? ', changed' : ''}`, changed, path, inner);
};

const listed = (values, before, had, path) => {
  const row = (value, i) => h('li', {}, nested(value, before[i], had, `${path}/${i}`));
  let quiet = Math.max(0, values.length - 40);
  if (had) {
    quiet = 0;
    while (quiet < Math.min(values.length, before.length) && same(values[quiet], before[quiet])) quiet += 1;
  }
  const earlier = Math.max(0, quiet - FEW);
  return [earlier > 0 && folded(`${earlier} earlier${had ? ', unchanged' : ''}`, false, `${path}#`, h('ol', {}, values.slice(0, earlier).map(row))),
    h('ol', {}, values.slice(earlier).map((value, i) => row(value, i + earlier)))];
};

const mapped = (value, before, had, path) => h('dl', {},
  Object.entries(value).flatMap(([name, inner]) => [
    h('dt', {}, name), h('dd', {}, nested(inner, Object.hasOwn(before, name) ? before[name] : undefined, had, `${path}/${name}`))]),
  had && Object.keys(before).filter((name) => !Object.hasOwn(value, name)).flatMap((name) => [
    h('dt', {}, name), h('dd', {}, h('del', {}, h('span', { class: 'sr' }, 'gone: '), plain(before[name]).slice(0, 200)))]));

// Questions.

const names = () => Object.keys(asked.item.questions);

const ready = () => other !== null ? other.trim() !== '' : names().every((name) => name in chosen);

const paint = () => {
  document.querySelectorAll('fieldset.question').forEach((set, i) => set.classList.toggle('now', i === current && other === null));
  document.getElementById('save').disabled = !ready() || waiting;
};

const pick = (name, value) => {
  chosen[name] = value;
  other = null;
  document.getElementById('other-words').hidden = true;
  const open = names().findIndex((one) => !(one in chosen));
  current = open < 0 ? names().indexOf(name) : open;
  paint();
};

const keyOf = (place) => KEYS[place] || null;

const question = (name, { text, options }, place) => h('fieldset', { class: 'question', 'data-name': name },
  h('legend', {}, name === 'decision' && text === '' ? 'Which decision is right?' : text || name),
  Object.entries(options).map(([value, words], i) => {
    const id = `q${place}-${i}`;
    const input = h('input', { type: 'radio', name: `q${place}`, id, value, 'aria-keyshortcuts': keyOf(i), onchange: () => pick(name, value), onfocus: () => { current = place; paint(); } });
    input.checked = chosen[name] === value;
    return h('label', { class: 'choice', for: id }, input, h('kbd', { 'aria-hidden': 'true' }, keyOf(i) || ' '),
      h('span', { class: 'words' }, h('span', { class: 'value' }, value), words && words !== value && `: ${words}`));
  }));

const sayOther = () => {
  other = other ?? '';
  chosen = Object.create(null);
  document.querySelectorAll('fieldset.question input').forEach((input) => { input.checked = false; });
  document.getElementById('other-words').hidden = false;
  document.getElementById('other').focus();
  paint();
};

const trouble = (text) => {
  const line = document.getElementById('trouble');
  if (line) { line.textContent = text; line.hidden = !text; }
  if (text) sdb.say(text);
};

const send = async (answer) => {
  if (waiting) return;
  waiting = true;
  paint();
  trouble('');
  const body = { item: asked.item.item, answer, note: document.getElementById('note').value.trim() || null, id: asked.id };
  try {
    show(await call('answer', body), 'Saved.');
  } catch (error) {
    if (error.said && error.said.next) { show(error.said.next, error.said.error); trouble(error.said.error); return; }
    waiting = false;
    paint();
    trouble(error.said ? error.message : 'Not saved: the server does not answer. Is `sdb label` still running? Then press Enter again; nothing that was saved is lost.');
  }
};

const save = () => { if (ready()) send(other !== null ? { other: other.trim() } : { ...chosen }); };

const undo = async () => {
  if (waiting) return;
  try { show(await call('undo', {}), 'Back at the last answer.'); } catch (error) { trouble(error.message); }
};

const far = ({ done, of, left_s: left }) => {
  const minutes = left === null ? '' : left < 90 ? ' · about a minute left' : ` · about ${Math.round(left / 60)} minutes left`;
  document.getElementById('far').textContent = `${done} of ${of} answered${done < of ? minutes : ''} · as ${sdb.data.by}${sdb.data.disputes ? ' · disputes' : ''}`;
  const bar = document.getElementById('bar');
  bar.max = Math.max(of, 1);
  bar.value = done;
};

const show = (next, spoken) => {
  asked = next;
  waiting = false;
  far(next);
  if (next.item === null) {
    main.replaceChildren(h('section', { tabindex: -1, id: 'done' }, h('h2', {}, 'All answered'),
      h('p', {}, sdb.data.done), h('p', { class: 'deeds' }, h('button', { type: 'button', class: 'plain', onclick: undo, disabled: next.done === 0 }, 'Undo the last answer'))));
    document.getElementById('done').focus();
    sdb.say('All answered.');
    return;
  }
  const item = next.item;
  const earlier = next.answer;
  chosen = Object.create(null);
  other = earlier && typeof earlier.other === 'string' && !('other' in item.questions) ? earlier.other : null;
  if (earlier && other === null) names().forEach((name) => { if (Object.hasOwn(earlier, name)) chosen[name] = earlier[name]; });
  current = Math.max(0, names().findIndex((name) => !(name in chosen)));
  const had = item.before !== null && item.before !== undefined;
  const state = h('section', { class: 'state', 'aria-labelledby': 'state-title' },
    h('h2', { id: 'state-title', tabindex: -1 }, 'The state'),
    h('p', { class: 'section-lead' }, had ? 'Marked: what changed since the state before.' : 'The first state of its session.'),
    typeof item.state === 'string' ? h('p', { class: 'long' }, shown(item.state, item.before, had, '')) : shown(item.state, item.before, had, ''));
  const ask = h('section', { class: 'ask', id: 'questions', 'aria-labelledby': 'ask-title', tabindex: -1 },
    h('h2', { id: 'ask-title', class: 'sr' }, 'Questions'),
    h('p', { class: 'trouble', id: 'trouble', role: 'alert', hidden: true }),
    next.views && [h('p', {}, 'People answered this differently:'), h('ul', { class: 'views' }, next.views.map((view) => h('li', {}, view)))],
    Object.entries(item.questions).map(([name, spec], place) => question(name, spec, place)),
    h('div', { id: 'other-words', hidden: other === null }, h('label', { class: 'note', for: 'other' }, 'None of these: what would be right?'),
      h('textarea', { id: 'other', oninput: (event) => { other = event.target.value; paint(); } }, other || '')),
    h('label', { class: 'note', for: 'note' }, 'Note (optional)'),
    h('textarea', { id: 'note' }, next.note || ''),
    h('p', { class: 'deeds' },
      h('button', { type: 'button', class: 'save', id: 'save', 'aria-keyshortcuts': 'Enter', onclick: save }, 'Save and next'),
      h('button', { type: 'button', class: 'plain', 'aria-keyshortcuts': 'n', onclick: sayOther }, 'None of these'),
      h('button', { type: 'button', class: 'plain', 'aria-keyshortcuts': '0', onclick: () => send(null) }, 'Cannot tell'),
      h('button', { type: 'button', class: 'plain', 'aria-keyshortcuts': 'u', onclick: undo, disabled: !next.undo }, 'Undo')),
    h('p', { class: 'keys' }, h('kbd', {}, '1'), '… answer · ', h('kbd', {}, 'Enter'), ' save · ', h('kbd', {}, 'n'), ' none of these · ',
      h('kbd', {}, '0'), ' cannot tell · ', h('kbd', {}, 'u'), ' undo · ', h('kbd', {}, '↑'), h('kbd', {}, '↓'), ' question'));
  main.replaceChildren(state, ask, ...(sdb.data.guide ? [h('section', { class: 'guide', 'aria-label': 'Guide' },
    folded('Guide', sdb.data.guide.length < 4000, '(guide)', h('pre', {}, sdb.data.guide)))] : []));
  window.scrollTo(0, 0);
  paint();
  document.getElementById('state-title').focus({ preventScroll: true });
  if (spoken) sdb.say(`${spoken} ${next.done} of ${next.of} answered.`);
};

document.addEventListener('keydown', (event) => {
  if (!asked || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const writing = event.target instanceof HTMLTextAreaElement;
  if (event.key === 'Escape' && writing) { event.target.blur(); return; }
  if (event.key === 'Enter' && asked.item !== null && !(writing && event.shiftKey)
      && !(event.target instanceof HTMLButtonElement) && event.target.tagName !== 'SUMMARY') {
    event.preventDefault();
    save();
    return;
  }
  if (writing) return;
  if (event.key === 'u') { event.preventDefault(); undo(); return; }
  if (asked.item === null) return;
  if (event.key === 'n') { event.preventDefault(); sayOther(); return; }
  if (event.key === '0') { event.preventDefault(); send(null); return; }
  const isRadio = event.target instanceof HTMLInputElement;
  if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !isRadio) {
    event.preventDefault();
    current = Math.min(Math.max(current + (event.key === 'ArrowDown' ? 1 : -1), 0), names().length - 1);
    paint();
    document.querySelectorAll('fieldset.question')[current].scrollIntoView({ block: 'nearest' });
    return;
  }
  const place = KEYS.indexOf(event.key);
  const name = names()[current];
  const values = Object.keys(asked.item.questions[name].options);
  if (place >= 0 && place < values.length) {
    event.preventDefault();
    const set = document.querySelectorAll('fieldset.question')[current];
    set.querySelectorAll('input')[place].checked = true;
    pick(name, values[place]);
    sdb.say(`${name}: ${values[place]}`);
    document.querySelectorAll('fieldset.question')[current].scrollIntoView({ block: 'nearest' });
  }
});

call('next').then((next) => show(next)).catch((error) => {
  main.replaceChildren(h('section', {}, h('p', {}, `The page could not be opened: ${error.message}`)));
});
