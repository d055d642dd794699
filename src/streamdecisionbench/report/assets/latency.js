// Latency: one quantile strip per recording on a log scale, with the interval across all of them.

sdb.latency = () => {
  const known = sdb.ranked.filter((rec) => rec.latency);
  if (!known.length) return;
  const strips = sdb.latencyStrips(known, sdb.high);
  const fastest = [...known].sort((a, b) => a.latency.p50 - b.latency.p50);
  const [first, last] = [fastest[0], fastest[fastest.length - 1]];
  sdb.section('latency', 'Latency',
    'Seconds from dispatch to a validated answer, successful attempts, log scale. Box: middle half; thick: 5th to 95th percentile; thin: all; mark: median. The vertical line is the interval.',
    h('figure', {}, strips.figure),
    h('p', { class: 'summary' }, first === last
      ? `${first.name}${sdb.mark(first)}: median ${sdb.seconds(first.latency.p50)} s, 95th percentile ${sdb.seconds(first.latency.p95)} s.`
      : `Fastest by median: ${first.name}${sdb.mark(first)} with ${sdb.seconds(first.latency.p50)} s; slowest: ${last.name}${sdb.mark(last)} with ${sdb.seconds(last.latency.p50)} s.`),
    sdb.dataTable('Data table', [], () => sdb.table('Latency in seconds',
      [{ label: 'Recording', text: true }, ...['answers', 'mean', 'min', 'p5', 'p25', 'p50', 'p75', 'p95', 'p99', 'max'].map((label) => ({ label }))],
      known.map(({ latency: l, ...rec }) => [rec.name + sdb.mark(rec), sdb.count(l.count), ...[l.mean, l.min, l.p5, l.p25, l.p50, l.p75, l.p95, l.p99, l.max].map((v) => sdb.fixed(v, 3))]))));
  sdb.follow(['interval'], () => strips.point(sdb.state.interval));
};
