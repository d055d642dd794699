// What is shown now, and the scores that follow from it.

const SAMPLES = 121;
const SHOWN_AT_FIRST = 6;

/* What was lived through in a world has one interval, its own. */
[sdb.low, sdb.high] = sdb.data.alone ? [sdb.data.interval, sdb.data.interval] : sdb.data.bounds;

sdb.scenarioById = new Map(sdb.data.scenarios.map((s) => [s.id, s]));

/* Recordings with timelines, weights and their place by integrated score. */
sdb.recordings = sdb.data.recordings.map((raw, index) => {
  const lines = raw.parts.map((part) => sdb.timeline(part, sdb.scenarioById.get(part.scenario)));
  const family = lines.map((line) => line.scenario.family);
  const present = [...new Set(family)].sort((a, b) => a - b);
  const share = (f) => 1 / family.filter((g) => g === f).length;
  return {
    ...raw,
    index,
    lines,
    families: present,
    overallWeights: family.map((f) => share(f) / present.length),
    familyWeights: new Map(
      present.map((f) => [f, family.map((g) => (g === f ? share(f) : 0))]),
    ),
    familyLevels: raw.families,
  };
});
[...sdb.recordings]
  .sort((a, b) => b.overall.auc - a.overall.auc || (a.name < b.name ? -1 : 1))
  .forEach((rec, place) => { rec.place = place; });
sdb.ranked = [...sdb.recordings].sort((a, b) => a.place - b.place);

/* All levels of one recording at one interval; the last one asked for is kept. */
sdb.levels = (rec, interval) => {
  if (rec.kept && rec.kept.interval === interval) return rec.kept;
  const rows = rec.lines.map((line) => sdb.sharesAt(line, interval));
  const total = (what) => rows.reduce((sum, row) => sum + row.replay[what], 0);
  rec.kept = {
    interval,
    overall: sdb.mean(rows, rec.lines, rec.overallWeights),
    families: new Map(
      rec.families.map((f) => [f, sdb.mean(rows, rec.lines, rec.familyWeights.get(f))]),
    ),
    scenarios: new Map(
      rec.lines.map((line, e) => [
        line.scenario.id,
        sdb.mean([rows[e]], [line], [1]),
      ]),
    ),
    accepted: total('accepted'),
    late: total('late'),
    superseded: total('superseded'),
  };
  return rec.kept;
};

sdb.now = (rec) => sdb.levels(rec, sdb.state.interval);

/* Integrated over the bounds, as the scorer wrote it. */
sdb.integrated = (level) => sdb.derive(
  level.integrated.classes, level.integrated.segment, level.integrated.product,
);

/* The level the tables show: at the interval, or over all of them. */
sdb.shownLevel = (rec) => (
  sdb.state.basis === 'at' ? sdb.now(rec).overall : sdb.integrated(rec.overall)
);

sdb.grid = Float64Array.from({ length: SAMPLES }, (_, i) => (
  i === SAMPLES - 1 ? sdb.high : sdb.low * (sdb.high / sdb.low) ** (i / (SAMPLES - 1))
));

/* In-force accuracy on the grid, overall and by family; made once per recording. */
sdb.curve = (rec) => {
  if (rec.sampled) return rec.sampled;
  const overall = new Float64Array(SAMPLES);
  const families = new Map(rec.families.map((f) => [f, new Float64Array(SAMPLES)]));
  const shares = new Float64Array(rec.lines.length);
  sdb.grid.forEach((interval, i) => {
    rec.lines.forEach((line, e) => {
      const row = sdb.sharesAt(line, interval).shares;
      shares[e] = row[RIGHT] + row[LUCKY];
    });
    const mean = (weights) => shares.reduce((sum, value, e) => sum + value * weights[e], 0);
    overall[i] = mean(rec.overallWeights);
    families.forEach((values, f) => { values[i] = mean(rec.familyWeights.get(f)); });
  });
  rec.sampled = { overall, families };
  return rec.sampled;
};

const recordingCalled = new Map(sdb.recordings.map((rec) => [rec.name, rec]));

/* Pairs look like recordings: what is shown of one can be shown of the other. */
sdb.pairs = sdb.data.pairs.map((raw, order) => {
  const [fast, slow] = [recordingCalled.get(raw.fast), recordingCalled.get(raw.slow)];
  let lines = null;
  return {
    ...raw,
    pair: true,
    order,
    index: sdb.recordings.length + order,
    name: `${raw.fast} + ${raw.slow} (${raw.rule})`,
    members: [fast, slow],
    get lines() {
      lines ??= fast.lines.map((line) => sdb.duo(line, slow.lines.find((l) => l.scenario === line.scenario), raw.reach));
      return lines;
    },
    families: fast.families,
    overallWeights: fast.overallWeights,
    familyWeights: fast.familyWeights,
    familyLevels: raw.families,
  };
});

/* Money an hour at an interval; null where a price is not known. */
sdb.perHour = (rec, interval = sdb.state.interval) => {
  const each = (rec.members || [rec]).map(({ cost }) => (cost && cost.amount !== null && cost.requests ? cost.amount / cost.requests : null));
  return each.includes(null) ? null : (each.reduce((sum, x) => sum + x, 0) * 3600) / interval;
};

sdb.called = new Map([...sdb.recordings, ...sdb.pairs].map((rec) => [rec.name, rec]));

/* A policy is drawn as the same components without it, under its own name. */
for (const answer of sdb.data.answers) {
  const plain = sdb.called.get(answer.plain) ?? recordingCalled.get(answer.members[0]);
  if (!sdb.called.has(answer.best)) sdb.called.set(answer.best, Object.create(plain, { name: { value: answer.best } }));
}

/* The answer made for the interval nearest to this one. */
sdb.answerAt = (interval) => sdb.data.answers.reduce((best, one) => (
  best && Math.abs(Math.log(best.d / interval)) <= Math.abs(Math.log(one.d / interval)) ? best : one
), null);

const recommended = new Set(sdb.data.answers.map((answer) => sdb.called.get(answer.best)?.index));

sdb.state = {
  interval: Math.min(Math.max(sdb.data.interval, sdb.low), sdb.high),
  basis: 'at',
  shown: new Set([...sdb.ranked.slice(0, SHOWN_AT_FIRST), ...sdb.pairs.filter((pair) => recommended.has(pair.index))].map((rec) => rec.index)),
  /* Pairs that stand beside the recordings: those that are recommended somewhere, and whatever the reader adds. */
  board: new Set(sdb.pairs.filter((pair) => recommended.has(pair.index)).map((pair) => pair.index)),
  scenario: sdb.data.scenarios[0].id,
  pair: sdb.recordings.length,
};

/* What the leaderboard lists: recordings, and the pairs beside them, best integrated score first. */
sdb.board = () => [...sdb.ranked, ...sdb.pairs.filter((pair) => sdb.state.board.has(pair.index))]
  .sort((a, b) => b.overall.auc - a.overall.auc || (a.name < b.name ? -1 : 1));

sdb.shown = () => sdb.board().filter((rec) => sdb.state.shown.has(rec.index));

const listeners = [];

/* Calls `update` now and whenever one of `topics` (state keys) changes. */
sdb.follow = (topics, update) => {
  listeners.push([topics, update]);
  update();
};

sdb.set = (changes) => {
  Object.assign(sdb.state, changes);
  const changed = Object.keys(changes);
  for (const [topics, update] of listeners) {
    if (topics.some((topic) => changed.includes(topic))) update();
  }
};

sdb.setInterval = (value) => {
  const interval = Math.min(Math.max(value, sdb.low), sdb.high);
  if (Number.isFinite(interval) && interval !== sdb.state.interval) sdb.set({ interval });
};

/* Puts a pair beside the recordings, or takes it away. */
sdb.toggleBoard = (index) => {
  const [board, shown] = [new Set(sdb.state.board), new Set(sdb.state.shown)];
  if (board.delete(index)) shown.delete(index);
  else { board.add(index); shown.add(index); }
  sdb.set({ board, shown });
};

sdb.toggleShown = (index) => {
  const shown = new Set(sdb.state.shown);
  if (!shown.delete(index)) shown.add(index);
  sdb.set({ shown });
};
