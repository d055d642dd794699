"""The kernel: the definitions of the paper, as functions, in reading order.

Everything `sdb` prints as a share of time is computed here. The kernel needs numpy and nothing else;
`rule` and `classes` need only the standard library, so that the meter can use them inside a service.

1. **Which answer takes effect** (`rule`). An arbiter is asked at every arrival. `Newest` accepts an
   answer whose source is newer than the active one. `CascadeRule` adds corrections by slower
   components: *freshest*, *lag-one* and *late-override*. `PolicyRule` adds thresholds and debouncing.

2. **What an instant is worth** (`classes`). `class_of(decision, own, now)` compares three decisions:
   the one in force, the reference κ(y_i) of the state it answers, and the reference y*(t) of now.

       current_correct   judgment   stale   compound   outdated_correct (lucky)   no_decision

   On partly labelled logs there are two more: `unjudged` and `unattributed`.

3. **Arrays** (`arrays`). A `Timeline` holds one scenario: releases r_i, latencies L_i, horizon H,
   references κ(y_i) and answers κ(â_i) as integers. `JoinedTimelines` lays many end to end.

4. **What is in force when** (`trajectory`). At an interval Δ every delay is scaled by c = tick/Δ:

       u_i(c) = r_i + c·L_i                                               `JoinedTimelines.arrivals`
       i is accepted ⇔ u_i < u_j for all newer j, and u_i < H             `accepted_at`
       i is accepted ⇔ c < c*_i                                           `critical_scale`

   A `Trajectory` lists pieces: source i is in force from a + b·c to a' + b'·c, for c in [low, high).
   Its range `lowest` … `highest` says for which paces it holds. `trajectory_at` gives one pace,
   `trajectory_over` all paces within bounds. `pair_trajectory` does the same for two components.

5. **Which reference holds meanwhile** (`overlaps`). Pieces are cut where the reference changes:
   `stretches_of` for exact episodes, `segment_overlaps` where only sums are needed.

6. **How paces weigh** (`paces`). `Bounds` are the interval's range; a weighting integrates 1/c, 1 and c:

       S = ∫ A(Δ) dΔ/Δ / ln(b/a)   over [a, b]                            `OverPaces`
       A(Δ)                        at one Δ                               `AtPace`

7. **Shares** (`shares`). `shares_over` adds up seconds by class and divides by observed time. `Shares`
   carries what follows from them:

       A = current_correct + outdated_correct                             in force
       O = current_correct + judgment                                     oracle
       U_cur = current_correct / O                                        right while current
       A = O·U_cur + λ,  λ = outdated_correct                             exactly

8. **Means** (`levels`). A family is the mean of its scenarios, the whole is the mean of its families.

9. **Curves** (`curves`). Between knots every share is c0 + c1/Δ, so a short table is the exact curve.

To change the rule, edit `rule` (events) and `trajectory` (its closed form): property tests compare the
two. To change a class, edit the table in `classes`. To change a weighting, edit `paces`.
"""
