// What to choose: the words of the function that decides, made for this interval; nothing is weighed here.

/* Neighbouring intervals with the same answer, each reaching halfway to the next. */
sdb.stretches = () => {
  const found = [];
  sdb.data.answers.forEach((answer, i, all) => {
    const from = i ? Math.sqrt(all[i - 1].d * answer.d) : sdb.low;
    const to = i + 1 < all.length ? Math.sqrt(answer.d * all[i + 1].d) : sdb.high;
    const last = found[found.length - 1];
    if (last && last.best === answer.best) Object.assign(last, { to, last: answer.d });
    else found.push({ best: answer.best, from, to, first: answer.d, last: answer.d });
  });
  return found;
};

sdb.answer = () => {
  if (!sdb.data.answers.length) return;
  const words = h('div', { class: 'answer-words', 'aria-live': 'polite' });
  const band = h('div', { class: 'band' });
  const needle = h('div', { class: 'band-now', 'aria-hidden': 'true' });
  const stretches = sdb.stretches();
  const several = sdb.recordings.length > 1;
  const scale = sdb.paceScale(0, 100);
  for (const stretch of stretches) {
    const item = sdb.called.get(stretch.best);
    const [a, b] = [scale.at(stretch.from), scale.at(stretch.to)];
    const range = `from ${sdb.short(stretch.first)} to ${sdb.short(stretch.last)} s`;
    band.append(h('button', {
      type: 'button', class: 'stretch', style: { left: `${a}%`, width: `${b - a}%`, '--mine': sdb.look(item).colour },
      title: `${item.name}${sdb.mark(item)}: recommended ${range}`,
      'aria-label': `${item.name}${sdb.mark(item)} is recommended ${range}; press to go to the middle of this range`,
      onclick: () => sdb.setInterval(sdb.snap(Math.sqrt(stretch.first * stretch.last))),
    }, h('span', {}, item.name, sdb.badges(item, true))));
  }
  band.append(needle);
  const ticks = h('div', { class: 'band-ticks', 'aria-hidden': 'true' }, sdb.paceTicks().map((d) => (
    h('span', { style: { left: `${scale.at(d)}%` } }, `${sdb.short(d)} s`)
  )));
  sdb.section('answer', 'What to choose', null, words,
    several && h('figure', { class: 'band-figure' },
      h('figcaption', {}, 'Recommended at each interval'), band, ticks,
      sdb.dataTable('Data table', [], () => sdb.table('Recommended by interval',
        [{ label: 'from s', text: true }, { label: 'to s' }, { label: 'recommended', text: true }],
        stretches.map((s) => [sdb.short(s.first), sdb.short(s.last), s.best + sdb.mark(sdb.called.get(s.best))]))),
      h('p', { class: 'muted small below' }, sdb.data.answersMethod.split('`').map((words, k) => (k % 2 ? h('code', {}, words) : words)))));

  sdb.follow(['interval'], () => {
    const d = sdb.state.interval;
    const answer = sdb.answerAt(d);
    const item = sdb.called.get(answer.best);
    const [verdict, ...rest] = answer.lines;
    words.replaceChildren(
      h('p', { class: 'verdict' }, verdict, sdb.badges(item)),
      ...rest.map((line) => h('p', {}, line)),
      ...(answer.d === d ? [] : [h('p', { class: 'muted small' }, `Made for ${sdb.short(answer.d)} s, the nearest interval this page has an answer for; sdb choose --interval ${sdb.short(d)} answers for yours.`)]),
    );
    needle.style.left = `${scale.at(d)}%`;
    document.getElementById('pace-best').replaceChildren('use ', h('b', {}, item.name), ...sdb.badges(item, true), ` ${sdb.percent(answer.value)}\u00a0%`);
  });
};
