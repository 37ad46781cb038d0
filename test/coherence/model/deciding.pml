/* Memory, and decisions on two keys, first 0 and then 1. */

/* A value leaves the store. */
inline load(i, k) {
  d_step {
    at[i].up && at[i].memory[k] == 0 && at[i].loading[k] == 0 -> at[i].loading[k] = head + 1
  }
}

#if defined(NO_BRINGING_UP) || defined(ARRIVALS_ONLY)
#define isUsable(i, p) true
#elif defined(IGNORES_GAPS)
#define isUsable(i, p) ((p) == 0 || ((at[i].received | upTo(at[i].read)) >> (p)) != 0)
#else
#define isUsable(i, p) isReached(i, p)
#endif

/* It arrives: it counts if no newer change was received, and once memory is as new as it. */
inline store(i, k) {
  d_step {
    at[i].loading[k] != 0 && isUsable(i, at[i].loading[k] - 1) ->
    newest(i, k);
    ok = (n <= at[i].loading[k] - 1);
#ifdef KEEPS_OLD
    ok = 1;
#endif
    value(k, at[i].loading[k] - 1);
    at[i].memory[k] = (ok -> only(n) : 0);
    at[i].loading[k] = 0
  }
}

/* A value of the shared cache, as of position p. */
inline takeShared(i, k, p) {
  d_step {
    at[i].up && at[i].memory[k] == 0 && at[i].loading[k] == 0 && p <= at[i].read && p <= head ->
    newest(i, k);
    ok = (n <= p);
#ifdef ANY_SHARED
    ok = 1;
#endif
    value(k, p);
    at[i].memory[k] = (ok -> only(n) : 0)
  }
}

#ifdef CUTTING
#define hasRequest(i) at[i].opened
#define setFloor(i, x) skip
#else
#define hasRequest(i) false
#define setFloor(i, x) at[i].floor = x
#endif

/* `live`: by the lease. Else it waits for one, or for a reading that begins from now on. */
inline ask(i, live) {
  d_step {
    at[i].up && at[i].step == IDLE && !hasRequest(i) && (!(live) || at[i].lease > 0) ->
    at[i].step = (live -> BEGINS : WAITS);
    at[i].fresh = 0;
#if QUEUE
    for (x : 0 .. QUEUE - 1) {
      at[i].qFresh[x] = 0
    }
#endif
    for (x : 1 .. head) {
      if
      :: write[x].phase == ANSWERED -> setFloor(i, x)
      :: else
      fi
    }
    skip
  }
}

inline hasLease(i) {
  d_step {
    at[i].step == WAITS && at[i].lease > 0 -> at[i].step = BEGINS
  }
}

/* y, z: the values of both keys. There is one position, not before the decision's floor, at which the store had them. */
inline check(i, both) {
  ok = 0;
  for (m : at[i].floor .. head) {
    value(0, m);
    if
    :: n == y ->
      value(1, m);
      ok = ok | (!(both) || n == z)
    :: else
    fi
  }
  assert(ok)
}

#define only_(set) (has(set, 0) -> 0 : (has(set, 1) -> 1 : (has(set, 2) -> 2 : 3)))

inline lookAtBoth(i) {
  d_step {
    at[i].step == BEGINS && at[i].memory[0] != 0 && at[i].memory[1] != 0 ->
    y = only_(at[i].memory[0]);
    z = only_(at[i].memory[1]);
    check(i, 1);
    endDecision(i)
  }
}

/* A decision on the first key alone. */
inline lookAtOne(i) {
  d_step {
    at[i].step == BEGINS && at[i].memory[0] != 0 ->
    y = only_(at[i].memory[0]);
    check(i, 0);
    endDecision(i)
  }
}

inline lookAtFirst(i) {
  d_step {
    at[i].step == BEGINS && at[i].memory[0] != 0 && at[i].memory[1] == 0 ->
    at[i].seen = only_(at[i].memory[0]);
    reached(i);
    at[i].seenAt = m;
    at[i].step = BETWEEN
  }
}

/* Decides again if what it has read first has changed since. */
inline lookAtSecond(i) {
  d_step {
    at[i].step == BETWEEN && at[i].memory[1] != 0 ->
    newest(i, 0);
#ifdef ARRIVALS_ONLY
    ok = !at[i].arrived;
#else
    ok = (n <= at[i].seenAt);
#endif
#ifdef NO_REDECISION
    ok = 1;
#endif
    if
    :: ok ->
      y = at[i].seen;
      z = only_(at[i].memory[1]);
      check(i, 1);
      endDecision(i)
    :: else ->
      at[i].step = BEGINS;
      at[i].seen = 0;
      at[i].seenAt = 0;
      at[i].arrived = 0
    fi
  }
}
