/* The sizes, the state of the store, of writes and of instances, and what is derived from it. */

#ifndef INSTANCES
#define INSTANCES 2
#endif
#ifndef KEYS
#define KEYS 2
#endif
#ifndef WRITES
#define WRITES 3
#endif
#ifndef LEASE
#define LEASE 2
#endif
#ifndef QUEUE
#define QUEUE 0
#endif
#ifndef SET
#define SET byte
#endif
#ifndef TIME
#define TIME byte
#endif
#ifndef WAIT
#ifdef NO_MARGIN
#define WAIT (LEASE * 4 / 5)
#else
#define WAIT LEASE
#endif
#endif
/* The instances that read the feed and decide, as a set. */
#ifndef READERS
#define READERS 2
#endif

/* Ticks within which an instance has to say what it has cut: twice LEASE, by the fastest clock of a writer. */
#define CUT_WITHIN (WAIT + 1)

/* Whether an instance that is not explored acknowledges at once: it could, and any delay is one of the response. */
#ifdef PROTOCOL
#define OTHERS_ACKNOWLEDGE true
#else
#define OTHERS_ACKNOWLEDGE false
#endif

#define has(set, n) (((set) >> (n)) & 1)
#define only(n) (1 << (n))
#define without(set, n) ((set) & ~(1 << (n)))

/* Of a write. */
#define COMMITTED 1
#define ANNOUNCED 2
#define ANSWERED 3
/* The writer died before or after it announced the write. */
#define LOST 4
#define UNANSWERED 5

typedef Write {
  byte phase; byte by; SET keys;
  TIME wait;      /* until it is answered in any case */
  TIME silence;   /* until what is missing may be removed from the list */
  bit listRead;
  byte acked;     /* the instances that acknowledged */
  byte missing;   /* those listed that did not */
  byte same;      /* those whose beat is still the one that was read with the list */
#ifdef CUTTING
  bit isNamed; byte named;  /* the readers that its answer names: those of the first list after the commit, and the writer */
  TIME limit;     /* until the answer is sent in any case */
  bit done; bit closed
#endif
#ifdef TRACE
  byte quiet;     /* those listed at a read of the list, whose beat is still the one of then */
  TIME quietFor[INSTANCES]; /* until they may be removed */
  byte told;      /* those that sent an acknowledgement */
  byte missed;    /* those whose worker joined after the announcement: it has no lease from before, and is not waited for */
  SET gone        /* the keys of which it leaves no record */
#endif
}

/* Of a reading. */
#define NO_READING 0
#define NOTED 1
#define SHOWN 2
#define DONE 3

/* Of a decision. */
#define IDLE 0
#define WAITS 1
#define BEGINS 2
#define BETWEEN 3

typedef Instance {
  bit listed; byte applied;         /* its row in the store */
  bit known;                        /* takes itself for listed */
  byte position;                    /* of the primary */
  byte reading; TIME left; byte head; bit found; bit fresh; bit late; byte reports;
#if QUEUE
  byte queued; TIME qLeft[QUEUE]; byte qHead[QUEUE]; bit qFresh[QUEUE];
#endif
  bit up; byte read;                /* the worker, and its newest reading */
  SET received;                     /* announced changes beyond that */
  TIME lease;
  SET memory[KEYS];                 /* the values that it has */
  byte loading[KEYS];               /* 1 + the position of a value on its way from the store */
#ifdef TRACE
  SET loaded[KEYS];                 /* the positions of the values that it has loaded */
  bit ended;                        /* the lease, for good */
#endif
#ifdef CUTTING
  bit opened; SET unaware;          /* a request, and the revocations that its decision did not know */
  SET looked;                       /* the revocations for which the worker has looked at it */
  SET reported;                     /* those for which the instance has said so */
#endif
#ifdef TABLES
  bit ready; bit unable;            /* the candidate of the next activation is prepared; it cannot be */
  byte readyFor;                    /* the activation whose candidate is prepared */
  byte decidesBy; byte required;    /* the activation by which it decides, and the newest one that has arrived or was read */
  bit isKnown;                      /* the store was read since the history began */
  byte tables;                      /* 1 + the position of tables on their way from the store */
#endif
  byte step; byte floor; byte seen; byte seenAt; bit arrived
}

Write write[WRITES + 1];
Instance at[INSTANCES];
byte head;

/* Not part of the state. */
hidden byte x, y, z, n, m, ok;

#define sent(w) (write[w].phase == ANNOUNCED || write[w].phase == ANSWERED || write[w].phase == UNANSWERED)
#define reads(i) has(READERS, i)
#define knows(i, w) ((w) <= at[i].read || has(at[i].received, w))
/* The changes up to p, as a set, and whether the worker has received all of them. */
#define upTo(p) ((2 << (p)) - 2)
#define isReached(i, p) (((at[i].received | upTo(at[i].read)) & upTo(p)) == upTo(p))
/* Of the writes that instance i may acknowledge. One that is not explored may do anything. */
#ifdef ACKNOWLEDGES_GAPS
#define holds(i, w) (!reads(i) || !at[i].up || knows(i, w))
#else
#define holds(i, w) (!reads(i) || !at[i].up || isReached(i, w))
#endif

#ifdef CUTTING
inline endRequest(i) {
  at[i].opened = 0;
  at[i].unaware = 0
}
inline endCutting(i) {
  endRequest(i);
  at[i].looked = 0
}
/* From the first list on, or from the commit if the others are not explored. */
inline name(w, listed_) {
  if
  :: !write[w].isNamed ->
    write[w].isNamed = 1;
    write[w].named = (listed_ & READERS) | (only(write[w].by) & READERS)
  :: else
  fi
}
#define startLimit(w) write[w].limit = CUT_WITHIN
#else
#define endCutting(i) skip
#define name(w, listed_) skip
#define startLimit(w) skip
#endif

/* A timer goes on. */
#define less(t, by) t = (t > (by) -> t - (by) : 0)

/* n := the newest change of the key that the worker has received */
inline newest(i, k) {
  n = 0;
  for (x : 1 .. head) {
    if
    :: has(write[x].keys, k) && knows(i, x) -> n = x
    :: else
    fi
  }
}

/* n := the value of the key at position p */
inline value(k, p) {
  n = 0;
  for (x : 1 .. WRITES) {
    if
    :: x <= p && has(write[x].keys, k) -> n = x
    :: else
    fi
  }
}

#ifdef IGNORES_GAPS
#define isNext(s, end) ((s) > (end))
#else
#define isNext(s, end) ((s) == (end) + 1)
#endif

/* m := the position up to which the worker has received every change */
inline reached(i) {
  m = at[i].read;
  for (x : 1 .. WRITES) {
    if
    :: isNext(x, m) && has(at[i].received, x) -> m = x
    :: else
    fi
  }
}

#ifdef NO_DROP
#define DROPPED (KEYS - 1)
#else
#define DROPPED KEYS
#endif

inline drop(i, w) {
  for (x : 0 .. DROPPED - 1) {
    if
    :: has(write[w].keys, x) ->
      at[i].memory[x] = 0;
#ifdef ARRIVALS_ONLY
      if
      :: x == 0 && at[i].step == BETWEEN -> at[i].arrived = 1
      :: else
      fi
#endif
    :: else
    fi
  }
}

inline dropAll(i) {
  for (x : 0 .. KEYS - 1) {
    at[i].memory[x] = 0;
    at[i].loading[x] = 0
  }
}
