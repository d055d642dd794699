// Quantile strips on a log scale, one per row, and a needle across all of them.

/* `known` are items with `latency`; the scale reaches to `reach` seconds at least. */
sdb.latencyStrips = (known, reach) => {
  const low = Math.max(Math.min(...known.map((rec) => rec.latency.min)), 1e-4) / 1.15;
  const high = Math.max(...known.map((rec) => rec.latency.max), reach) * 1.15;
  const place = (s) => (100 * (Math.log(Math.max(s, low)) - Math.log(low))) / (Math.log(high) - Math.log(low));
  const at = (element, from, to) => {
    element.style.left = `${place(from).toFixed(3)}%`;
    if (to !== undefined) element.style.width = `${(place(to) - place(from)).toFixed(3)}%`;
    return element;
  };
  const decades = [];
  for (let e = Math.ceil(Math.log10(low) - 1); e <= Math.log10(high); e += 1) {
    for (const m of [1, 2, 5]) {
      const v = Number((m * 10 ** e).toPrecision(3));
      if (v >= low && v <= high && (m === 1 || high / low < 300)) decades.push(v);
    }
  }
  const needles = [];
  const strip = (rec) => {
    const l = rec.latency;
    const needle = h('span', { class: 'strip-now' });
    needles.push(needle);
    const track = h('div', { class: 'strip', role: 'img', 'aria-label': `${rec.name}${sdb.mark(rec)}: median ${sdb.fixed(l.p50, 2)} s, 95th percentile ${sdb.fixed(l.p95, 2)} s, largest ${sdb.fixed(l.max, 2)} s` },
      decades.map((v) => at(h('span', { class: 'strip-grid' }), v)),
      at(h('span', { class: 'whisker' }), l.min, l.max), at(h('span', { class: 'most' }), l.p5, l.p95),
      at(h('span', { class: 'half' }), l.p25, l.p75), at(h('span', { class: 'median' }), l.p50), needle);
    track.style.setProperty('--mine', sdb.look(rec).colour);
    return h('div', { class: 'strip-row' }, h('div', { class: 'lane-label' }, sdb.swatch(rec), sdb.nameOf(rec), sdb.badges(rec, true)), track,
      h('div', { class: 'strip-values num' }, sdb.fixed(l.p50, 2), h('span', { class: 'muted' }, ` / ${sdb.fixed(l.p95, 2)}`)));
  };
  const figure = h('div', { class: 'strips' },
    h('div', { class: 'strip-row head' }, h('div', {}), h('div', { class: 'strip-axis', 'aria-hidden': 'true' }, decades.map((v) => at(h('span', {}, `${sdb.short(v)}`), v))), h('div', { class: 'strip-values muted' }, 'p50 / p95 s')),
    known.map(strip));
  return { figure, point: (seconds) => needles.forEach((needle) => { at(needle, seconds); }) };
};
