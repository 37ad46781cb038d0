/* Writers: commit, announcement, list, acknowledgements, response, and removal from the list. */

/* What no rule uses any more is 0, so that states do not differ by it. */
inline settle(w) {
  if
  :: write[w].phase != ANNOUNCED ->
    write[w].wait = 0;
    write[w].acked = 0;
    write[w].listRead = 0;
#ifndef TRACE
    write[w].by = 0;
#endif
#ifndef FORGETS_ANY
    write[w].missing = write[w].missing & write[w].same
#else
    skip
#endif
  :: write[w].phase == ANNOUNCED && write[w].listRead && write[w].missing == 0 && write[w].by == 0 && OTHERS_ACKNOWLEDGE ->
    write[w].wait = 0;
    write[w].acked = 0
  :: else
  fi;
#ifdef FORGETS_ANY
  write[w].same = write[w].missing;
#else
  write[w].same = write[w].same & write[w].missing;
#endif
  if
  :: write[w].same == 0 -> write[w].silence = 0
  :: else
  fi
}

/* A statement takes effect whatever becomes of its client. */
#ifdef TRACE
#define mayWrite(i) true
#else
#define mayWrite(i) (!reads(i) || at[i].up)
#endif

inline commit(i, changed) {
  d_step {
    head < WRITES && mayWrite(i) ->
    head++;
    write[head].phase = COMMITTED;
    write[head].by = i;
    write[head].keys = changed
  }
}

/* Both at once. A writer that dies between or after takes no further step, which no rule requires of it. */
inline commitAndAnnounce(i, changed) {
  d_step {
    head < WRITES && mayWrite(i) ->
    head++;
    write[head].phase = ANNOUNCED;
    write[head].by = i;
    write[head].keys = changed;
    write[head].wait = WAIT;
    write[head].listRead = reads(i);
    startLimit(head);
    if
    :: reads(i) -> name(head, 0)
    :: else
    fi
  }
}

inline announce(w) {
  d_step {
    write[w].phase == COMMITTED ->
    write[w].phase = ANNOUNCED;
    write[w].wait = WAIT
  }
}

inline writerDies(w) {
  d_step {
    write[w].phase == COMMITTED || write[w].phase == ANNOUNCED ->
    write[w].phase = (write[w].phase == COMMITTED -> LOST : UNANSWERED);
    settle(w)
  }
}

inline readList_(w) {
  n = 0;
  for (x : 0 .. INSTANCES - 1) {
    n = (at[x].listed -> n | only(x) : n)
  }
  name(w, n);
  y = 0;
  for (x : 0 .. INSTANCES - 1) {
    if
    :: x != write[w].by && at[x].listed && at[x].applied < w && !has(write[w].acked, x) -> y = y | only(x)
    :: else
    fi
  }
  if
  :: !write[w].listRead ->
    write[w].listRead = 1;
    write[w].missing = y;
    write[w].same = y;
#ifndef FORGETS_AT_ONCE
    write[w].silence = WAIT
#endif
  :: else ->
    write[w].missing = write[w].missing & y
  fi;
  settle(w)
}

/* Also after the worker has answered in time, as the primary was frozen meanwhile. */
inline readList(w) {
  d_step {
    (write[w].phase == ANNOUNCED && !(reads(write[w].by) && OTHERS_ACKNOWLEDGE)) ||
    (write[w].phase == ANSWERED && write[w].missing == 0) -> readList_(w)
  }
}

#ifdef CONFIRMS_WHEN_SENT
#define mayAcknowledge(i, w) true
#else
#define mayAcknowledge(i, w) holds(i, w)
#endif

inline acknowledged(w, i) {
  d_step {
    write[w].phase == ANNOUNCED && write[w].by != i && mayAcknowledge(i, w) &&
#ifdef EARLY_ACKNOWLEDGEMENTS
    !has(write[w].acked, i) ->
    write[w].acked = write[w].acked | only(i);
#else
    has(write[w].missing, i) ->
#endif
    write[w].missing = without(write[w].missing, i);
    settle(w)
  }
}

#ifdef NO_TIME_LIMIT
#define waited(w) false
#else
#define waited(w) (write[w].wait == 0)
#endif
#ifdef NO_WAIT
#define answerable(w) true
#else
#define answerable(w) (waited(w) || (write[w].listRead && write[w].missing == 0 && holds(write[w].by, w)))
#endif

inline answer(w) {
  d_step {
    write[w].phase == ANNOUNCED && answerable(w) ->
    write[w].phase = ANSWERED;
    settle(w)
  }
}

#ifdef FORGETS_AT_ONCE
#define silent(w) (write[w].phase >= ANNOUNCED)
#elif defined(FORGETS_EARLY)
#define silent(w) (write[w].phase >= ANNOUNCED && write[w].wait == 0)
#else
#define silent(w) (write[w].phase >= ANNOUNCED && write[w].wait == 0 && write[w].silence == 0)
#endif
#ifdef FORGETS_ANY
#define unchanged(w, i) true
#else
#define unchanged(w, i) has(write[w].same, i)
#endif

inline forget(w, i) {
  d_step {
    silent(w) && has(write[w].missing, i) && unchanged(w, i) && at[i].listed ->
    at[i].listed = 0;
    at[i].applied = 0
  }
}
