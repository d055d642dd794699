// The scorer, once more: the exact step-anchored replay of scoring/, one pass over the steps.
//
//   u_i = r_i + (tick/Δ)·L_i; answer i is accepted when u_i < H and u_i < u_j for every newer j.
//   Columns: current_correct, judgment, stale, compound, outdated_correct, no_decision, and the
//   segment-balanced accuracy, all as shares.

const [RIGHT, JUDGMENT, STALE, COMPOUND, LUCKY, NONE, SEGMENT] = [0, 1, 2, 3, 4, 5, 6];

/* When the evidence of every step holds, and what its time weighs in segment-balanced accuracy. */
const clockOf = (r, tick, y) => {
  const n = r.length;
  const H = n * tick;
  const end = Float64Array.from(r, (_, i) => (i + 1 < n ? r[i + 1] : H));
  const starts = [];
  for (let i = 0; i < n; i += 1) if (i === 0 || y[i] !== y[i - 1]) starts.push(i);
  const weight = new Float64Array(n);
  starts.forEach((first, k) => {
    const next = k + 1 < starts.length ? starts[k + 1] : n;
    weight.fill(1 / (starts.length * (end[next - 1] - r[first])), first, next);
  });
  return { tick, n, r, y, H, end, weight };
};

/* When a step is published, in ticks; the end of the last one is the scenario's. */
sdb.tickOf = (scenario, step) => (scenario.rhythm && step < scenario.rhythm.length ? scenario.rhythm[step] : step);

/* A part of the payload as arrays, with what no interval changes. */
sdb.timeline = (part, scenario) => {
  const y = Int32Array.from(scenario.reference);
  const p = Int32Array.from(part.predicted);
  const right = Uint8Array.from(y, (value, i) => (value === p[i] ? 1 : 0));
  const untimed = right.reduce((sum, value) => sum + value, 0) / y.length;
  const line = { scenario, ...clockOf(Float64Array.from(part.release), part.tick, y), L: Float64Array.from(part.latency), p, right, untimed };
  return part.effects ? lived(line, part.effects) : line;
};

/* What a rule or a policy let take effect, as it happened: `effects` of {step, decision, from}, both −1
 * where nothing is in force. Answers are numbered in that order. */
const lived = (line, effects) => ({
  ...line, effects, steps: effects.step,
  p: Int32Array.from(effects.decision),
  right: Uint8Array.from(effects.decision, (d, k) => (d === line.y[effects.step[k]] ? 1 : 0)),
});

const livedSpans = ({ effects, r, H }) => {
  const begins = [r[0], ...effects.from];
  const spans = begins.map((from, k) => ({ from, to: k + 1 < begins.length ? begins[k + 1] : H, source: k && effects.decision[k - 1] >= 0 ? k - 1 : -1 }));
  const [accepted, superseded, late] = effects.counts;
  return { spans: spans.filter((s) => s.to > s.from), accepted, late, superseded };
};

const joined = (Kind, a, b) => { const both = new Kind(a.length + b.length); both.set(a); both.set(b, a.length); return both; };

/*
 * Two timelines of one scenario as a pair on nominal releases, i·tick or the scenario's own times.
 * Answers are numbered: 0 … n−1 the fast one's, n … 2n−1 the slow one's. `reach`: how many steps a slow answer may lie behind the
 * active source, null for any. The slow one's untimed accuracy stands in the product U·O.
 */
sdb.duo = (fast, slow, reach) => ({
  scenario: fast.scenario,
  ...clockOf(Float64Array.from({ length: fast.n }, (_, i) => sdb.tickOf(fast.scenario, i) * fast.tick), fast.tick, fast.y),
  L: fast.L, slowL: slow.L, reach,
  p: joined(Int32Array, fast.p, slow.p), right: joined(Uint8Array, fast.right, slow.right),
  untimed: slow.untimed, pair: true,
});

/* The step an answer is for. */
sdb.stepOf = (line, source) => (line.steps ? line.steps[source] : source < line.n ? source : source - line.n);

/* Which source is in force when, at one interval: [{from, to, source}], source −1 for none yet. */
sdb.spans = (line, interval) => {
  if (line.effects) return livedSpans(line);
  if (line.pair) return pairSpans(line, interval);
  const { n, r, L, H } = line;
  const c = line.tick / interval;
  const found = [];
  let newest = Infinity;
  let to = H;
  let late = 0;
  for (let i = n - 1; i >= 0; i -= 1) {
    const u = r[i] + c * L[i];
    if (u >= H) late += 1;
    if (u < newest && u < H) {
      found.push({ from: u, to, source: i });
      to = u;
    }
    if (u < newest) newest = u;
  }
  const accepted = found.length;
  if (to > r[0]) found.push({ from: r[0], to, source: -1 });
  found.reverse();
  return { spans: found, accepted, late, superseded: n - accepted - late };
};

/*
 * The same for a pair, by the closed form of scoring/pairs/replay.py: a fast answer i takes effect
 * before every newer fast one and every slow s ≥ i, a slow s before every newer slow one and every
 * fast j > s + reach, both before H; of two at the same time the slow one stays.
 */
const pairSpans = (line, interval) => {
  const { n, r, L, slowL, H, reach } = line;
  const c = line.tick / interval;
  const fast = Float64Array.from(r, (t, i) => t + c * L[i]);
  const slow = Float64Array.from(r, (t, i) => t + c * slowL[i]);
  const earliest = (u) => {
    const from = new Float64Array(n + 3).fill(Infinity);
    for (let i = n - 1; i >= 0; i -= 1) from[i] = Math.min(u[i], from[i + 1]);
    return from;
  };
  const [fastFrom, slowFrom] = [earliest(fast), earliest(slow)];
  const taken = [];
  let late = 0;
  for (let i = 0; i < n; i += 1) {
    late += (fast[i] >= H ? 1 : 0) + (slow[i] >= H ? 1 : 0);
    if (fast[i] < fastFrom[i + 1] && fast[i] < slowFrom[i] && fast[i] < H) taken.push([fast[i], i]);
    if (slow[i] < slowFrom[i + 1] && slow[i] < H && (reach === null || slow[i] < fastFrom[i + 1 + reach])) taken.push([slow[i], n + i]);
  }
  taken.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const found = [{ from: r[0], to: taken.length ? taken[0][0] : H, source: -1 }];
  taken.forEach(([from, source], k) => found.push({ from, to: k + 1 < taken.length ? taken[k + 1][0] : H, source }));
  return { spans: found.filter((s) => s.to > s.from), accepted: taken.length, late, superseded: 2 * n - taken.length - late };
};

/* The class of answer `i` while step `k` holds. */
sdb.classOf = (line, i, k) => {
  if (i < 0) return NONE;
  const own = line.y[sdb.stepOf(line, i)];
  if (line.right[i]) return own === line.y[k] ? RIGHT : STALE;
  if (own === line.y[k]) return JUDGMENT;
  return line.p[i] === line.y[k] ? LUCKY : COMPOUND;
};

/* Calls back for every stretch of constant source and step: (from, to, source, step, class). */
sdb.walk = (line, spans, visit) => {
  let k = 0;
  for (const span of spans) {
    let t = span.from;
    while (t < span.to) {
      while (k + 1 < line.n && line.end[k] <= t) k += 1;
      const stop = k + 1 < line.n ? Math.min(line.end[k], span.to) : span.to;
      visit(t, stop, span.source, k, sdb.classOf(line, span.source, k));
      t = stop;
    }
  }
};

/* Six class shares and segment-balanced accuracy of one scenario, with the acceptance counts. */
sdb.sharesAt = (line, interval) => {
  const out = new Float64Array(7);
  const replay = sdb.spans(line, interval);
  sdb.walk(line, replay.spans, (from, to, source, k, kind) => {
    out[kind] += to - from;
    if (kind === RIGHT || kind === LUCKY) out[SEGMENT] += (to - from) * line.weight[k];
  });
  const whole = line.H - line.r[0];
  for (let kind = 0; kind < 6; kind += 1) out[kind] /= whole;
  return { shares: out, replay };
};

/* What follows from shares: A = current_correct + lucky, O = current_correct + judgment. */
sdb.derive = (classes, segment, product) => {
  const clean = Array.from(classes, (v) => (Math.abs(v) < 1e-15 ? 0 : v));
  const oracle = clean[RIGHT] + clean[JUDGMENT];
  return {
    classes: clean,
    segment,
    product,
    inForce: clean[RIGHT] + clean[LUCKY],
    oracle,
    uCurrent: oracle > 0 ? clean[RIGHT] / oracle : null,
  };
};

/* The weighted mean of scenarios: `rows` of {shares}, `lines` for their untimed accuracy. */
sdb.mean = (rows, lines, weights) => {
  const sum = new Float64Array(7);
  let product = 0;
  rows.forEach(({ shares }, e) => {
    const w = weights[e];
    if (!w) return;
    for (let column = 0; column < 7; column += 1) sum[column] += w * shares[column];
    product += w * lines[e].untimed * (shares[RIGHT] + shares[JUDGMENT]);
  });
  return sdb.derive(sum.subarray(0, 6), sum[SEGMENT], product);
};
