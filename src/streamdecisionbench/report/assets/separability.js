// Separability: is A close to U·O? One point per scenario and shown recording.

const SHAPES = [
  (x, y, r) => svg('circle', { cx: x, cy: y, r }),
  (x, y, r) => svg('rect', { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 }),
  (x, y, r) => svg('path', { d: `M${x} ${y - r * 1.2}L${x + r * 1.15} ${y + r * 0.85}L${x - r * 1.15} ${y + r * 0.85}Z` }),
  (x, y, r) => svg('path', { d: `M${x} ${y - r * 1.3}L${x + r * 1.3} ${y}L${x} ${y + r * 1.3}L${x - r * 1.3} ${y}Z` }),
];

const points = () => sdb.shown().flatMap((rec) => rec.lines.map((line) => {
  const level = sdb.now(rec).scenarios.get(line.scenario.id);
  return { rec, scenario: line.scenario, product: level.product, inForce: level.inForce };
}));

sdb.separability = () => {
  const host = h('div', { class: 'chart scatter' });
  const summary = h('p', { class: 'summary' });
  const key = h('ul', { class: 'shape-key', 'aria-label': 'Shapes' }, sdb.data.families.map((family, f) => h('li', {},
    svg('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, SHAPES[f % SHAPES.length](7, 7, 4.5)), family.name)));
  const colours = h('ul', { class: 'shape-key', 'aria-label': 'Colours' });
  let width = 0;
  const draw = () => {
    if (!width) return;
    colours.replaceChildren(...sdb.shown().map((rec) => h('li', {}, svg('svg', { width: 14, height: 14, 'aria-hidden': 'true' },
      svg('circle', { cx: 7, cy: 7, r: 4.5, style: { fill: sdb.look(rec).colour } })), rec.name, sdb.badges(rec, true))));
    const side = Math.min(width, 460);
    const m = { left: 40, right: 12, top: 10, bottom: 38 };
    const height = side - m.left - m.right + m.top + m.bottom;
    const list = points();
    const [low, high] = sdb.shareRange(list.map((p) => [p.product, p.inForce]));
    const x = sdb.linear(low, high, m.left, side - m.right);
    const y = sdb.linear(low, high, height - m.bottom, m.top);
    const step = high - low > 0.6 ? 0.2 : 0.1;
    const root = svg('svg', { width: side, height, viewBox: `0 0 ${side} ${height}`, role: 'img' });
    for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9; v += step) {
      root.append(svg('line', { class: 'grid', x1: x(low), x2: x(high), y1: y(v), y2: y(v) }), svg('line', { class: 'grid', x1: x(v), x2: x(v), y1: y(low), y2: y(high) }),
        svg('text', { class: 'tick', x: x(low) - 8, y: y(v) + 4, 'text-anchor': 'end' }, String(Math.round(v * 100))),
        svg('text', { class: 'tick', x: x(v), y: y(low) + 17, 'text-anchor': 'middle' }, String(Math.round(v * 100))));
    }
    root.append(svg('line', { class: 'diagonal', x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
      svg('text', { class: 'tick', x: x((low + high) / 2), y: height - 4, 'text-anchor': 'middle' }, 'U·O, %'),
      svg('text', { class: 'tick', x: 10, y: y((low + high) / 2), 'text-anchor': 'middle', transform: `rotate(-90 10 ${y((low + high) / 2)})` }, 'A, %'));
    for (const p of list) {
      const mark = SHAPES[p.scenario.family % SHAPES.length](x(p.product), y(p.inForce), 4.2);
      mark.classList.add('point');
      mark.style.setProperty('fill', sdb.look(p.rec).colour);
      const words = `${p.rec.name}${sdb.mark(p.rec)}, ${p.scenario.id}: A ${sdb.percent(p.inForce)} %, U·O ${sdb.percent(p.product)} %`;
      mark.addEventListener('pointermove', (event) => sdb.tip([h('p', {}, words)], event.clientX, event.clientY));
      mark.addEventListener('pointerleave', sdb.hideTip);
      root.append(mark);
    }
    const gaps = list.map((p) => Math.abs(p.inForce - p.product));
    const text = gaps.length
      ? `At ${sdb.short(sdb.state.interval)} s, A differs from U·O by ${sdb.percent(gaps.reduce((a, b) => a + b, 0) / gaps.length)} points on average and by at most ${sdb.percent(Math.max(...gaps))} over ${sdb.plural(gaps.length, 'point')}.`
      : 'No recording is shown.';
    summary.textContent = text;
    root.setAttribute('aria-label', `In-force accuracy against the product of untimed and oracle accuracy. ${text}`);
    host.replaceChildren(root);
  };
  sdb.section('separability', 'Separability',
    'If judgment errors do not depend on timing, in-force accuracy A is the product of untimed accuracy U and oracle accuracy O, and points lie on the diagonal. Above it, timing is kinder than the product says; below, less kind.',
    h('figure', { class: 'scatter-figure' }, host, h('div', {}, colours, key, summary,
      sdb.dataTable('Data table', ['interval', 'shown'], () => sdb.table(`Separability at ${sdb.short(sdb.state.interval)} s, %`,
        [{ label: 'Recording', text: true }, { label: 'scenario', text: true }, { label: 'U·O' }, { label: 'A' }, { label: 'A − U·O' }],
        points().map((p) => [p.rec.name + sdb.mark(p.rec), p.scenario.id, sdb.percent(p.product), sdb.percent(p.inForce), sdb.percent(p.inForce - p.product)]))))));
  sdb.fit(host, (w) => { width = w; draw(); });
  sdb.follow(['interval', 'shown'], draw);
};
