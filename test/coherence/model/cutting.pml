/*
 * Revocations: what is open, what an instance cuts, and what the answer claims. Each write is a revocation, which voids what was given
 * before it.
 *
 * The worker has one request, which may stay open for any time: all others would take the same steps, and change nothing for this one.
 * `unaware` is the set of revocations that its decision did not know. A request that knows none of them may be allowed too: its
 * credential may be newer.
 *
 * A report of what an instance has cut arrives at any time after it was sent, or never, whether by a message or with a beat. So the
 * model has only the fact that it was sent.
 */

/* The revocations that the worker has not received. */
#define unknown(i) (upTo(WRITES) & ~(at[i].received | upTo(at[i].read)))

#ifdef OPENS_ON_OLD_STATE
/* The request is decided now, and open later, whatever arrives between. */
inline decide(i) {
  d_step {
    at[i].step == BEGINS ->
    at[i].step = BETWEEN;
    at[i].unaware = unknown(i)
  }
}
#define DECIDED BETWEEN
#else
/* A decision that waited is made again where a record has changed, so it is as of its end. */
#define DECIDED BEGINS
#endif

inline open(i) {
  d_step {
    at[i].step == DECIDED ->
    at[i].opened = 1;
#ifndef OPENS_ON_OLD_STATE
    at[i].unaware = unknown(i);
#endif
    endDecision(i)
  }
}

/* The client ends it. */
inline close(i) {
  d_step {
    at[i].opened -> endRequest(i)
  }
}

/* The worker looks at what it has open, once for each revocation. */
inline cut(i, w) {
  d_step {
    at[i].up && knows(i, w) && !has(at[i].looked, w) ->
    at[i].looked = at[i].looked | only(w);
    if
    :: at[i].opened && has(at[i].unaware, w) -> endRequest(i)
    :: else
    fi
  }
}

#ifdef REPORTS_FOR_WORKER
#define hasCut(i, w) true
#elif defined(REPORTS_BEFORE_CUT)
#define hasCut(i, w) knows(i, w)
#else
#define hasCut(i, w) has(at[i].looked, w)
#endif

/* The primary sends what its worker has said. A worker that has ended has nothing open. */
inline report(i, w) {
  d_step {
    sent(w) && !has(at[i].reported, w) && (!at[i].up || hasCut(i, w)) -> at[i].reported = at[i].reported | only(w)
  }
}

#ifdef COUNTS_ANY_REPORT
#define hasSaid(i, w) (at[i].reported != 0)
#elif defined(COUNTS_ACKNOWLEDGED)
#define hasSaid(i, w) (has(at[i].reported, w) || holds(i, w))
#elif defined(COUNTS_LEASE_ENDED)
#define hasSaid(i, w) (has(at[i].reported, w) || at[i].lease == 0)
#else
#define hasSaid(i, w) has(at[i].reported, w)
#endif
#ifdef NO_CUT_LIMIT
#define isOver(w) false
#else
#define isOver(w) (write[w].limit == 0)
#endif

/* Each instance that is named has said what it has cut. Those that are not explored have nothing open. */
#define isComplete(w) (write[w].isNamed && (!has(write[w].named, 1) || hasSaid(1, w)))

/* The answer is sent, at the latest when time is over: it claims that nothing is open only if all have said so. */
inline claim(w) {
  d_step {
    write[w].phase == ANSWERED && !write[w].done && (isComplete(w) || isOver(w)) ->
    write[w].closed = isComplete(w);
    write[w].done = 1;
    write[w].limit = 0
  }
}

/* No instance that the answer names has open what the revocation has ended. */
inline closedIsRight(w) {
  d_step {
    write[w].closed && has(write[w].named, 1) -> assert(!(at[1].opened && has(at[1].unaware, w)))
  }
}
