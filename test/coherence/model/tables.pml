/*
 * Route tables in the store: the values of key 1, which a process does not read as it decides, but has active. A write of them is an
 * activation. What an instance has prepared by then is active before it decides on the state with the activation; else it reads the store.
 */

/* Prepares the candidate that the next activation has. One that it cannot build is of no use to it. */
inline prepare(i) {
  d_step {
    !at[i].ready && !at[i].unable -> at[i].ready = 1
  }
}

inline cannotPrepare(i) {
  d_step {
    !at[i].ready && !at[i].unable -> at[i].unable = 1
  }
}

#ifdef NO_ANSWERS
#define mayActivate(i) true
#else
#define mayActivate(i) (at[i].ready || at[i].lease == 0)
#endif

/* Each instance that may hold a lease has prepared it. */
inline activateInStore(i, reader) {
  d_step {
    head < WRITES && mayActivate(reader) ->
    assert(!at[reader].unable || at[reader].lease == 0);
    head++;
    write[head].phase = ANNOUNCED;
    write[head].by = i;
    write[head].keys = only(1);
    write[head].wait = WAIT;
    at[reader].readyFor = (at[reader].ready -> head : 0);
    at[reader].ready = 0;
    at[reader].unable = 0
  }
}

#ifdef FORGETS_ACTIVATIONS
#define counts(i) at[i].isKnown
#else
#define counts(i) true
#endif

/* The activation arrives. */
inline arrive(i, w) {
  if
  :: has(write[w].keys, 1) ->
    if
    :: at[i].readyFor == w -> at[i].decidesBy = w; at[i].readyFor = 0
    :: else
    fi;
    if
    :: counts(i) && w > at[i].required -> at[i].required = w
    :: else
    fi
  :: else
  fi
}

/* The changes between two readings are not known: what is on its way from the store may be of another history. */
inline forgetTables(i) {
#ifdef TRUSTS_VERSION
  skip
#else
  at[i].isKnown = 0;
  at[i].required = 0;
  at[i].tables = 0
#endif
}

/* Tables leave the store. */
inline loadTables(i) {
  d_step {
    at[i].tables == 0 -> at[i].tables = head + 1
  }
}

/*
 * They arrive, are prepared, and are active, though they may be older than an activation that has arrived since: it decides nothing by
 * them.
 */
inline storeTables(i) {
  d_step {
    at[i].tables != 0 ->
    value(1, at[i].tables - 1);
    at[i].decidesBy = n;
    if
    :: at[i].required <= at[i].tables - 1 -> at[i].required = n
    :: else
    fi;
    at[i].isKnown = 1;
    at[i].tables = 0
  }
}

#ifdef ALWAYS_CURRENT
#define isCurrent(i) true
#elif defined(IGNORES_EARLIER)
#define isCurrent(i) (at[i].isKnown && at[i].required == at[i].decidesBy)
#else
#define isCurrent(i) (at[i].isKnown && at[i].required == at[i].decidesBy && isReached(i, at[i].required))
#endif

inline decideByTables(i) {
  d_step {
    at[i].step == BEGINS && at[i].memory[0] != 0 && isCurrent(i) ->
    y = only_(at[i].memory[0]);
    z = at[i].decidesBy;
    check(i, 1);
    endDecision(i)
  }
}

/* The request is let through, and waits for the store. */
inline passGate(i) {
  d_step {
    at[i].step == BEGINS && at[i].memory[0] == 0 && isCurrent(i) ->
    at[i].seen = at[i].decidesBy;
    at[i].step = BETWEEN
  }
}

/* It is decided again if its tables are not those of the state any more. */
inline endWait(i) {
  d_step {
    at[i].step == BETWEEN && at[i].memory[0] != 0 ->
#ifdef KEEPS_TABLES
    ok = 1;
#else
    ok = (isCurrent(i) && at[i].decidesBy == at[i].seen);
#endif
    if
    :: ok ->
      y = only_(at[i].memory[0]);
      z = at[i].seen;
      check(i, 1);
      endDecision(i)
    :: else ->
      at[i].step = BEGINS;
      at[i].seen = 0
    fi
  }
}
