/* Readings of the feed, from the store to the worker; announcements; the end of a worker, and a new one. */

inline enlist(i) {
  d_step {
    at[i].reading == NO_READING && !at[i].known ->
#ifndef REGISTERS_LATE
    at[i].listed = 1;
#endif
    at[i].known = 1
  }
}

inline note(i) {
  d_step {
    at[i].reading == NO_READING && at[i].known ->
    at[i].reading = NOTED;
    at[i].left = LEASE;
    at[i].fresh = 1;
    at[i].late = !at[i].up;
#ifdef BEAT_OF_PRIMARY
    at[i].reports = at[i].position
#else
    at[i].reports = (at[i].up -> at[i].read : at[i].position)
#endif
  }
}

inline snapshot(i) {
  d_step {
    at[i].reading == NOTED ->
    at[i].reading = SHOWN;
    at[i].head = head;
    at[i].found = at[i].listed
  }
}

inline beat(i) {
  d_step {
    at[i].reading == SHOWN ->
    at[i].reading = DONE;
    if
    :: at[i].found && at[i].listed ->
      at[i].applied = at[i].reports;
      for (x : 1 .. head) {
        write[x].same = without(write[x].same, i);
#ifdef TRACE
        write[x].quiet = without(write[x].quiet, i);
#endif
        settle(x)
      }
    :: else ->
#ifdef REGISTERS_LATE
      at[i].listed = 1;
      at[i].found = 1
#else
#ifdef UNLISTED_LEASE
      at[i].found = 1
#else
      at[i].found = 0
#endif
#endif
    fi;
    at[i].reports = 0
  }
}

inline endReading(i) {
  at[i].reading = NO_READING;
  at[i].left = 0;
  at[i].head = 0;
  at[i].found = 0;
  at[i].fresh = 0;
  at[i].late = 0;
  at[i].reports = 0
}

/* The response is lost, or late, or the statement failed. */
inline giveUp(i) {
  d_step {
    at[i].reading != NO_READING -> endReading(i)
  }
}

/* It was not listed, so it registers and reads again. */
inline isUnlisted(i) {
  d_step {
    at[i].reading == DONE && !at[i].found ->
    at[i].known = 0;
    endReading(i)
  }
}

#ifdef LEASE_BEFORE_JOIN
#define late_(i) false
#else
#define late_(i) at[i].late
#endif

#define gives(i) ((at[i].found && !late_(i)) -> at[i].left : 0)
#define serves(i) (at[i].fresh && !late_(i))

inline passed(i) {
  at[i].position = at[i].head;
  at[i].known = at[i].found;
  endReading(i)
}

/* The primary has the response. Without a queue, a worker that does not get it now gets its changes with a later one. */
inline receive(i) {
  d_step {
#if QUEUE
    at[i].reading == DONE && at[i].queued < QUEUE ->
    if
    :: at[i].up ->
      y = at[i].queued;
      at[i].qLeft[y] = gives(i);
      at[i].qHead[y] = at[i].head;
      at[i].qFresh[y] = serves(i);
      at[i].queued = y + 1
    :: else
    fi;
#else
    at[i].reading == DONE ->
#endif
    passed(i)
  }
}

inline apply(i, w) {
  d_step {
    at[i].up && sent(w) && !knows(i, w) ->
    drop(i, w);
    arrive(i, w);
    at[i].received = at[i].received | only(w)
  }
}

#if QUEUE
#define hasNext(i) (at[i].queued > 0)
#define nextHead(i) at[i].qHead[0]
#define nextGives(i) at[i].qLeft[0]
#define nextServes(i) at[i].qFresh[0]
inline takeNext(i) {
  at[i].queued--;
  for (y : 0 .. QUEUE - 1) {
    if
    :: y < at[i].queued ->
      at[i].qLeft[y] = at[i].qLeft[y + 1];
      at[i].qHead[y] = at[i].qHead[y + 1];
      at[i].qFresh[y] = at[i].qFresh[y + 1]
    :: else
    fi
  }
  at[i].qLeft[at[i].queued] = 0;
  at[i].qHead[at[i].queued] = 0;
  at[i].qFresh[at[i].queued] = 0
}
inline dropQueue(i) {
  at[i].queued = 0;
  for (x : 0 .. QUEUE - 1) {
    at[i].qLeft[x] = 0;
    at[i].qHead[x] = 0;
    at[i].qFresh[x] = 0
  }
}
#else
#define hasNext(i) (at[i].reading == DONE)
#define nextHead(i) at[i].head
#define nextGives(i) gives(i)
#define nextServes(i) serves(i)
#define takeNext(i) passed(i)
#define dropQueue(i) skip
#endif

/* The worker applies the oldest reading of the channel. `all`: the changes between are not known. */
inline get_(i, all) {
  if
  :: all ->
    dropAll(i);
    forgetTables(i);
#ifdef DROPS_ANNOUNCED
    at[i].received = 0
#endif
  :: else ->
    for (y : at[i].read + 1 .. nextHead(i)) {
      drop(i, y);
      arrive(i, y)
    }
  fi;
  at[i].read = nextHead(i);
#ifdef ACKNOWLEDGES_ANY_READING
  for (y : 1 .. head) {
    write[y].missing = without(write[y].missing, i)
  }
#endif
  for (y : 1 .. at[i].read) {
    at[i].received = without(at[i].received, y)
  }
  if
#ifdef COUNTS_FROM_RESPONSE
  :: nextServes(i) -> at[i].lease = LEASE
#else
  :: nextGives(i) > 0 -> at[i].lease = nextGives(i)
#endif
  :: else
  fi;
  if
  :: at[i].step == WAITS && nextServes(i) -> at[i].step = BEGINS
  :: else
  fi;
  takeNext(i)
}

inline get(i, all) {
  d_step {
    hasNext(i) && at[i].up ->
    get_(i, all)
  }
}

inline endDecision(i) {
  at[i].step = IDLE;
  at[i].floor = 0;
  at[i].seen = 0;
  at[i].seenAt = 0;
  at[i].arrived = 0
}

inline workerDies(i) {
  d_step {
    at[i].up ->
    at[i].up = 0;
    at[i].read = 0;
    at[i].received = 0;
    at[i].lease = 0;
    dropAll(i);
#ifdef TRACE
    for (x : 0 .. KEYS - 1) {
      at[i].loaded[x] = 0
    }
#endif
    dropQueue(i);
    endDecision(i);
    endCutting(i);
    for (z : 1 .. head) {
      if
      :: write[z].by == i && write[z].phase == COMMITTED -> write[z].phase = LOST; settle(z)
      :: write[z].by == i && write[z].phase == ANNOUNCED -> write[z].phase = UNANSWERED; settle(z)
      :: else
      fi
    }
    skip
  }
}

/* A new worker begins with the changes that the primary has read. */
inline join(i) {
  d_step {
    !at[i].up ->
    at[i].up = 1;
    at[i].read = at[i].position;
    at[i].late = (at[i].reading != NO_READING)
  }
}
