// Pairs: a fast and a slow component under one rule, replayed together on nominal releases.

const FEW = 0.01;

/* What right answers of a pair's parts come to; without any, a pair only repeats its other half. */
const partsRight = (pair) => Math.min(...pair.members.map((rec) => rec.overall.auc));

const FACTS = {
  'slow share (%)': 'share of time with a slow answer in force, at the interval the report was made for',
  corrections: 'slow answers that replaced the fast answer to the very same step, at the interval the report was made for',
  regressions: 'slow answers that replaced a fast answer to a newer step, at the interval the report was made for',
};

sdb.pairsSection = () => {
  if (!sdb.pairs.length) return;
  const labels = [...new Set(sdb.pairs.flatMap((pair) => pair.facts.map(([label]) => label)))];
  const better = (pair) => Math.max(...pair.members.map((rec) => sdb.now(rec).overall.inForce));
  const order = [...sdb.pairs].sort((a, b) => b.overall.auc - a.overall.auc || a.order - b.order);
  const telling = order.filter((pair) => partsRight(pair) >= FEW || sdb.state.board.has(pair.index));
  const listed = telling.length ? telling : order;
  const rowOf = (pair) => {
    const cells = { at: h('span', { 'data-cell': 'inForce' }), gain: h('span', { 'data-cell': 'gain' }), box: h('input', { type: 'checkbox', 'aria-label': `Show ${pair.name} beside the recordings`, onchange: () => sdb.toggleBoard(pair.index) }) };
    const radio = h('input', { type: 'radio', name: 'pair', value: pair.index, onchange: () => sdb.set({ pair: pair.index }) });
    return { pair, cells, radio, row: [
      h('label', { class: 'pair-name' }, radio, h('span', {}, h('bdi', {}, `${pair.fast} + ${pair.slow}`), ' ', h('span', { class: 'pair-rule' }, pair.rule), sdb.badges(pair, true))),
      h('b', {}, sdb.percent(pair.overall.auc)), cells.at, cells.gain,
      ...labels.map((label) => (pair.facts.find(([l]) => l === label) || [])[1] ?? '–'), cells.box,
    ] };
  };
  const rows = order.map(rowOf);
  const heading = h('span', {});
  const table = sdb.table('Pairs', [{ label: 'Fast + slow, rule', text: true }, { label: ['log-AUC', h('span', { class: 'of' }, overBounds)] },
    { label: ['in force', heading] }, { label: 'gain' }, ...labels.map((label) => ({ label, hint: FACTS[label] })), { label: 'beside recordings' }], rows.map((r) => r.row));
  table.classList.add('pair-table');
  // On a narrow screen a row is a small card, and every number carries its heading.
  ['log-AUC', 'in force', 'gain', ...labels, 'beside recordings'].forEach((label, i) => {
    table.querySelectorAll(`tbody td:nth-child(${i + 2})`).forEach((td) => { td.dataset.label = label; });
  });
  const trs = [...table.querySelectorAll('tbody tr')];
  let all = listed.length === order.length;
  const more = h('button', { type: 'button', class: 'plain', onclick: () => { all = !all; show(); } });
  const show = () => {
    rows.forEach((r, i) => { trs[i].hidden = !all && !listed.includes(r.pair); });
    more.textContent = all ? 'Only those whose parts are both right at times' : `All ${order.length}, also those with a part that is never right`;
  };
  show();
  const line = (rec, label) => ({ name: rec.name + sdb.mark(rec), label: sdb.endName(rec, label), values: sdb.curve(rec).overall, exact: (d) => exactOf(rec, d).overall.inForce, ...sdb.look(rec), dash: rec.pair ? '' : sdb.look(rec).dash, faint: false });
  const now = () => sdb.pairs[sdb.state.pair - sdb.recordings.length];
  const chart = sdb.paceChart({
    title: 'In-force accuracy of the chosen pair and of its two components.',
    height: 280,
    labelled: true,
    series: () => [...now().members.map((rec) => line(rec, rec.name)), line(now(), 'pair')],
  });
  const key = h('ul', { class: 'shape-key' });
  sdb.section('pairs', 'Pairs',
    'Both components see every step; the rule decides whose answer takes effect. Replayed from separate recordings on nominal releases.',
    table,
    listed.length < order.length && h('p', { class: 'below' }, more),
    h('p', { class: 'muted small below' }, `Gain: points above the better of the two alone at the interval. ${labels.filter((l) => FACTS[l]).map((l) => `${l[0].toUpperCase()}${l.slice(1)}: ${FACTS[l]}.`).join(' ')}`),
    h('figure', {}, chart.host, key),
    sdb.dataTable('Data table', ['interval'], () => {
      const ds = [...new Set([...sdb.paceTicks(), sdb.state.interval])].sort((a, b) => a - b);
      return sdb.table('In-force accuracy of pairs, %', [{ label: 'Pair', text: true }, ...ds.map((d) => ({ label: `${sdb.short(d)} s` }))],
        order.map((pair) => [pair.name + sdb.mark(pair), ...ds.map((d) => sdb.percent(exactOf(pair, d).overall.inForce))]));
    }));
  sdb.follow(['interval'], () => {
    heading.replaceChildren(h('span', { class: 'of' }, atNow()));
    rows.forEach(({ pair, cells }) => {
      const value = sdb.now(pair).overall.inForce;
      const gain = value - better(pair);
      cells.at.textContent = sdb.percent(value);
      cells.gain.textContent = `${gain >= 0 ? '+' : ''}${sdb.percent(gain)}`;
    });
    chart.move();
  });
  sdb.follow(['board'], () => rows.forEach(({ pair, cells }) => { cells.box.checked = sdb.state.board.has(pair.index); }));
  sdb.follow(['pair'], () => {
    chart.draw();
    rows.forEach(({ pair, radio }) => { radio.checked = pair.index === sdb.state.pair; });
    const entry = ({ colour }, dash, text) => h('li', {}, svg('svg', { class: 'swatch', width: 26, height: 10, 'aria-hidden': 'true' },
      svg('line', { x1: 1, x2: 25, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': dash || null, style: { stroke: colour } })), text);
    const pair = now();
    key.replaceChildren(entry(sdb.look(pair), '', pair.name), ...pair.members.map((rec, i) => entry(sdb.look(rec), sdb.look(rec).dash, `${rec.name} alone (${i ? 'slow' : 'fast'})`)));
  });
  sdb.set({ pair: listed[0].index });
};
