// Pairs: a fast and a slow component under one rule, from exact coefficients.

sdb.pairsSection = () => {
  if (!sdb.pairs.length) return;
  const single = (name) => sdb.recordings.find((rec) => rec.name === name);
  const labels = [...new Set(sdb.pairs.flatMap((pair) => pair.facts.map(([label]) => label)))];
  const at = (pair, d = sdb.state.interval) => (pair.curves.overall ? sdb.evaluate(pair.curves.overall, d) : null);
  const better = (pair) => {
    const known = [single(pair.fast), single(pair.slow)].filter(Boolean);
    return known.length ? Math.max(...known.map((rec) => sdb.now(rec).overall.inForce)) : null;
  };
  const order = [...sdb.pairs].sort((a, b) => b.auc - a.auc || a.index - b.index);
  const now = new Map(order.map((pair) => [pair, { at: h('span', { 'data-cell': 'inForce' }), gain: h('span', { 'data-cell': 'gain' }) }]));
  const heading = h('span', {});
  const rows = order.map((pair) => [
    h('label', { class: 'pair-name' }, h('input', { type: 'radio', name: 'pair', value: pair.index, checked: pair === order[0], onchange: () => sdb.set({ pair: pair.index }) }),
      h('bdi', {}, pair.name), sdb.badges(pair)),
    pair.rule, h('b', {}, sdb.percent(pair.auc)), now.get(pair).at, now.get(pair).gain, sdb.percent(pair.untimed),
    ...labels.map((label) => (pair.facts.find(([l]) => l === label) || [])[1] ?? '–'),
  ]);
  const line = (name, values, exact, colour, dash, item) => ({ name: name + sdb.mark(item), label: sdb.endName(item, item.rule ? 'pair' : name), values, exact, colour, dash, faint: false });
  const chart = sdb.paceChart({
    title: 'In-force accuracy of the chosen pair and of its two components.',
    height: 280,
    labelled: true,
    series: () => {
      const pair = sdb.pairs[sdb.state.pair];
      const found = [pair.fast, pair.slow].map(single).filter(Boolean)
        .map((rec) => line(rec.name, sdb.curve(rec).overall, (d) => exactOf(rec, d).overall.inForce, sdb.look(rec).colour, sdb.look(rec).dash, rec));
      if (pair.curves.overall) found.push(line(`${pair.name} (${pair.rule})`, Float64Array.from(sdb.grid, (d) => at(pair, d)), (d) => at(pair, d), 'var(--ink)', '', pair));
      return found;
    },
  });
  const key = h('ul', { class: 'shape-key' });
  sdb.section('pairs', 'Pairs',
    'Both components see every step; the rule decides whose answer takes effect. Replayed from separate recordings on nominal releases.',
    sdb.table('Pairs', [{ label: 'Fast + slow', text: true }, { label: 'rule', text: true }, { label: 'log-AUC' }, { label: heading }, { label: 'gain' }, { label: 'untimed' }, ...labels.map((label) => ({ label }))], rows),
    h('p', { class: 'muted small' }, 'Gain: points above the better of the two alone at the interval.'),
    h('figure', {}, chart.host, key),
    sdb.dataTable('Data table', ['interval'], () => {
      const ds = [...new Set([...sdb.paceTicks(), sdb.state.interval])].sort((a, b) => a - b);
      return sdb.table('In-force accuracy of pairs, %', [{ label: 'Pair', text: true }, { label: 'rule', text: true }, ...ds.map((d) => ({ label: `${sdb.short(d)} s` }))],
        order.map((pair) => [pair.name + sdb.mark(pair), pair.rule, ...ds.map((d) => sdb.percent(at(pair, d)))]));
    }));
  sdb.follow(['interval'], () => {
    heading.textContent = `at ${sdb.short(sdb.state.interval)} s`;
    now.forEach((cells, pair) => {
      const value = at(pair);
      const best = better(pair);
      cells.at.textContent = sdb.percent(value);
      cells.gain.textContent = value === null || best === null ? '–' : `${value >= best ? '+' : ''}${sdb.percent(value - best)}`;
    });
    chart.move();
  });
  sdb.follow(['pair'], () => {
    chart.draw();
    const pair = sdb.pairs[sdb.state.pair];
    const entry = (colour, dash, text) => h('li', {}, svg('svg', { class: 'swatch', width: 26, height: 10, 'aria-hidden': 'true' },
      svg('line', { x1: 1, x2: 25, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': dash || null, style: { stroke: colour } })), text);
    key.replaceChildren(entry('var(--ink)', '', `${pair.name} (${pair.rule})`), ...[['fast', pair.fast], ['slow', pair.slow]].map(([role, name]) => {
      const rec = single(name);
      return rec ? entry(sdb.look(rec).colour, sdb.look(rec).dash, `${name} alone (${role})`) : null;
    }).filter(Boolean));
  });
  sdb.set({ pair: order[0].index });
};
