/** Asked is how a query stands that a pulse has named. Times are in milliseconds. */
export interface Asked { active: boolean; fetching: boolean; answered: number; named: number; every: number }

/**
 * turn says what becomes of it now. It waits while an answer is on its way, or while it is dear and was answered a moment ago: an
 * answer that was begun before the change must not be the last one. What is dear the server keeps for a moment too, so that its
 * first answer after a change may be from before; then it is asked once more when that moment is over.
 */
export function turn(q: Asked, now: number): "wait" | "ask" | "ask again" {
  if (!q.active) return "ask";
  if (q.fetching || now - q.answered < q.every) return "wait";
  return now - q.named < q.every ? "ask again" : "ask";
}
