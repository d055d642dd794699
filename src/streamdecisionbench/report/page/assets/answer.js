// The short answer: who is best at the reader's pace, what limits them, and who is best elsewhere.

/* Everything one could choose: recordings, and pairs where curves are given. */
sdb.candidates = () => [
  ...sdb.ranked.map((rec) => ({
    name: rec.name, item: rec, colour: sdb.look(rec).colour, grid: sdb.curve(rec).overall,
    exact: (d) => sdb.levels({ ...rec, kept: null }, d).overall.inForce,
  })),
  ...sdb.pairs.filter((pair) => pair.curves.overall).map((pair) => ({
    name: `${pair.name} (${pair.rule})`, item: pair, pair: true, colour: 'var(--soft)',
    grid: Float64Array.from(sdb.grid, (d) => sdb.evaluate(pair.curves.overall, d)),
    exact: (d) => sdb.evaluate(pair.curves.overall, d),
  })),
];

/* Stretches of the interval and who is best in each; ties go to the first. */
sdb.winners = (list) => {
  const best = (i) => list.reduce((top, c, k) => (c.grid[i] > list[top].grid[i] + 1e-9 ? k : top), 0);
  const found = [{ from: sdb.low, who: best(0) }];
  for (let i = 1; i < sdb.grid.length; i += 1) {
    const next = best(i);
    const last = found[found.length - 1];
    if (next === last.who) continue;
    let [a, b] = [sdb.grid[i - 1], sdb.grid[i]];
    for (let round = 0; round < 20; round += 1) {
      const middle = Math.sqrt(a * b);
      if (list[next].exact(middle) > list[last.who].exact(middle)) b = middle; else a = middle;
    }
    found.push({ from: b, who: next });
  }
  return found.map((w, i) => ({ ...w, to: found[i + 1]?.from ?? sdb.high }));
};

/* A share in running text; its sign stays on the line. */
const share = (value) => `${sdb.percent(value)}\u00a0%`;

const limitText = (level) => {
  const late = level.classes[STALE] + level.classes[NONE];
  const wrong = level.classes[JUDGMENT];
  const both = level.classes[COMPOUND];
  if (level.inForce > 0.995) return 'Next to nothing is lost.';
  const [cause, most, other, least, help] = late > wrong
    ? ['Latency', late, 'judgment', wrong, 'Faster serving or a fast partner']
    : ['Judgment', wrong, 'latency', late, 'Better answers'];
  return `${cause} costs most: ${share(most)} of the time, against ${share(least)} for ${other} and ${share(both)} for both together. ${help} would help first.`;
};

sdb.answer = () => {
  const list = sdb.candidates();
  const words = h('div', { class: 'answer-words', 'aria-live': 'polite' });
  const band = h('div', { class: 'band' });
  const needle = h('div', { class: 'band-now', 'aria-hidden': 'true' });
  const several = list.length > 1;
  const stretches = several ? sdb.winners(list) : [];
  for (const stretch of stretches) {
    const who = list[stretch.who];
    const scale = sdb.paceScale(0, 100);
    const [a, b] = [scale.at(stretch.from), scale.at(stretch.to)];
    band.append(h('button', {
      type: 'button', class: 'stretch', style: { left: `${a}%`, width: `${b - a}%`, '--mine': who.colour },
      title: `${who.name}${sdb.mark(who.item)}: best from ${sdb.fixed(stretch.from, 2)} to ${sdb.fixed(stretch.to, 2)} s`,
      'aria-label': `${who.name}${sdb.mark(who.item)} is best from ${sdb.fixed(stretch.from, 2)} to ${sdb.fixed(stretch.to, 2)} s; press to go to the middle of this range`,
      onclick: () => sdb.setInterval(sdb.snap(Math.sqrt(stretch.from * stretch.to))),
    }, h('span', {}, who.name, sdb.badges(who.item, true))));
  }
  band.append(needle);
  const ticks = h('div', { class: 'band-ticks', 'aria-hidden': 'true' }, sdb.paceTicks().map((d) => (
    h('span', { style: { left: `${sdb.paceScale(0, 100).at(d)}%` } }, `${sdb.short(d)} s`)
  )));
  sdb.section('answer', 'What to choose', null, words,
    several && h('figure', { class: 'band-figure' },
      h('figcaption', {}, 'Best at each interval between steps'), band, ticks,
      sdb.dataTable('Data table', [], () => sdb.table('Best component or pair by interval',
        [{ label: 'from s', text: true }, { label: 'to s' }, { label: 'best', text: true }],
        stretches.map((w) => [sdb.fixed(w.from, 2), sdb.fixed(w.to, 2), list[w.who].name + sdb.mark(list[w.who].item)])))));

  sdb.follow(['interval'], () => {
    const d = sdb.state.interval;
    const scored = list.map((c) => [c.pair ? c.exact(d) : sdb.now(c.item).overall.inForce, c]);
    scored.sort((a, b) => b[0] - a[0]);
    const [value, best] = scored[0];
    const text = [h('p', { class: 'verdict' }, `At one step every ${sdb.short(d)} s, `, h('strong', {}, best.name), sdb.badges(best.item),
      best.pair ? ', a pair, keeps' : ' keeps', ' the right decision in force ', h('strong', { class: 'num' }, share(value)), ' of the time.')];
    const single = scored.find(([, c]) => !c.pair);
    if (best.pair) {
      text.push(h('p', {}, 'Best single component: ', h('b', {}, single[1].name), sdb.badges(single[1].item), ` with ${share(single[0])}. `, limitText(sdb.now(single[1].item).overall)));
    } else {
      text.push(h('p', {}, limitText(sdb.now(best.item).overall)));
      if (several) {
        const [second, who] = scored[1];
        const gap = value - second;
        text.push(h('p', { class: 'muted' }, 'Next: ', who.name, sdb.badges(who.item), ` with ${share(second)}, `,
          gap < 0.005 ? 'practically level' : `${sdb.percent(gap)} points behind`, '.'));
      }
    }
    words.replaceChildren(...text);
    needle.style.left = `${sdb.paceScale(0, 100).at(d)}%`;
    document.getElementById('pace-best').replaceChildren('best ', h('b', {}, share(value)), ...sdb.badges(best.item, true), ' ', best.name);
  });
};
