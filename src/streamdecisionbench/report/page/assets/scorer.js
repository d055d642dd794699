// The scorer, once more: the exact step-anchored replay of scoring/, one pass over the steps.
//
//   u_i = r_i + (tick/Δ)·L_i; answer i is accepted when u_i < H and u_i < u_j for every newer j.
//   Columns: current_correct, judgment, stale, compound, outdated_correct, no_decision, and the
//   segment-balanced accuracy, all as shares.

const [RIGHT, JUDGMENT, STALE, COMPOUND, LUCKY, NONE, SEGMENT] = [0, 1, 2, 3, 4, 5, 6];

/* A part of the payload as arrays, with what no interval changes. */
sdb.timeline = (part, scenario) => {
  const r = Float64Array.from(part.release);
  const L = Float64Array.from(part.latency);
  const y = Int32Array.from(scenario.reference);
  const p = Int32Array.from(part.predicted);
  const n = r.length;
  const H = n * part.tick;
  const end = Float64Array.from(r, (_, i) => (i + 1 < n ? r[i + 1] : H));
  const right = Uint8Array.from(y, (value, i) => (value === p[i] ? 1 : 0));
  const starts = [];
  for (let i = 0; i < n; i += 1) if (i === 0 || y[i] !== y[i - 1]) starts.push(i);
  const weight = new Float64Array(n);
  starts.forEach((first, k) => {
    const next = k + 1 < starts.length ? starts[k + 1] : n;
    weight.fill(1 / (starts.length * (end[next - 1] - r[first])), first, next);
  });
  const untimed = right.reduce((sum, value) => sum + value, 0) / n;
  return { scenario, tick: part.tick, n, r, L, y, p, H, end, right, starts, weight, untimed };
};

/* Which source is in force when, at one interval: [{from, to, source}], source −1 for none yet. */
sdb.spans = (line, interval) => {
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

/* The class of source `i` while step `k` holds. */
sdb.classOf = (line, i, k) => {
  if (i < 0) return NONE;
  if (line.right[i]) return line.y[i] === line.y[k] ? RIGHT : STALE;
  if (line.y[i] === line.y[k]) return JUDGMENT;
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

/* c0 + c1/Δ between breakpoints: an exact curve evaluated where it is asked. */
sdb.evaluate = (curve, interval) => {
  let low = 0;
  let high = curve.d.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.d[middle] <= interval) low = middle + 1;
    else high = middle;
  }
  const k = Math.min(Math.max(low - 1, 0), curve.c0.length - 1);
  return curve.c0[k] + curve.c1[k] / interval;
};
