/* Time, what is checked, and the steps that each scope has (scopes.ts). */

/* A response that can be sent is sent before time goes on: the writer lives. */
#ifdef CUTTING
#define isDue(w) ((write[w].phase == ANNOUNCED && answerable(w)) || isClaimDue(w))
#define isClaimDue(w) (write[w].phase == ANSWERED && !write[w].done && (isComplete(w) || isOver(w)))
#define isLate(w) (write[w].phase == ANSWERED && !write[w].done && write[w].limit == 0)
#define endLimit(w) less(write[w].limit, 1)
#else
#define isDue(w) (write[w].phase == ANNOUNCED && answerable(w))
#define isLate(w) false
#define endLimit(w) skip
#endif

#if WRITES == 1
#define each(rule) :: rule(1)
#define eachAt(i, rule) :: rule(i, 1)
#define eachOf(rule, i) :: rule(1, i)
#define due isDue(1)
#elif WRITES == 2
#define each(rule) :: rule(1) :: rule(2)
#define eachAt(i, rule) :: rule(i, 1) :: rule(i, 2)
#define eachOf(rule, i) :: rule(1, i) :: rule(2, i)
#define due (isDue(1) || isDue(2))
#else
#define each(rule) :: rule(1) :: rule(2) :: rule(3)
#define eachAt(i, rule) :: rule(i, 1) :: rule(i, 2) :: rule(i, 3)
#define eachOf(rule, i) :: rule(1, i) :: rule(2, i) :: rule(3, i)
#define due (isDue(1) || isDue(2) || isDue(3))
#endif

inline tick() {
  d_step {
#ifdef PUNCTUAL
    !due ->
#else
    true ->
#endif
    for (x : 0 .. INSTANCES - 1) {
      less(at[x].left, 1);
#ifndef NO_EXPIRY
      less(at[x].lease, 1);
#endif
#if QUEUE
      for (y : 0 .. QUEUE - 1) {
        less(at[x].qLeft[y], 1)
      }
#endif
      skip
    }
    for (x : 1 .. head) {
#ifdef PUNCTUAL
      assert(write[x].phase != ANNOUNCED || write[x].wait > 0);
      assert(!isLate(x));
#endif
      less(write[x].wait, 1);
      less(write[x].silence, 1);
      endLimit(x)
    }
    skip
  }
}

#define takeSharedOfFirst(p, i) takeShared(i, 0, p)
#define takeSharedOfSecond(p, i) takeShared(i, 1, p)

/* With a live lease, the worker has dropped what every answered write changed, and what every write before it did. */
inline leaseIsRight(i) {
  d_step {
    at[i].up && at[i].lease > 0 ->
    for (x : 1 .. head) {
      assert(write[x].phase != ANSWERED || isReached(i, x))
    }
    skip
  }
}

/* The abstract protocol, for decisions: all that decisions need of it is that a live lease is right. */

#ifdef ANSWERS_AT_ONCE
#define isRight(i, w) true
#else
#define isRight(i, w) (at[i].lease == 0 || holds(i, w))
#endif

inline answerRightly(i, w) {
  d_step {
    write[w].phase == ANNOUNCED && isRight(i, w) ->
    write[w].phase = ANSWERED;
    name(w, READERS)
  }
}

inline readFeed(i) {
  d_step {
    at[i].reading == NO_READING ->
    at[i].reading = DONE;
    at[i].left = 1;
    at[i].found = 1;
    at[i].fresh = 1;
    at[i].head = head
  }
}

inline getRightly(i, all) {
  d_step {
    at[i].reading == DONE ->
    get_(i, all);
    for (x : 1 .. head) {
      if
      :: write[x].phase == ANSWERED && !holds(i, x) -> at[i].lease = 0
      :: else
      fi
    }
    skip
  }
}

inline expire(i) {
  d_step {
    at[i].lease > 0 -> at[i].lease = 0
  }
}

#ifdef OPENS_ON_OLD_STATE
#define decideFirst :: decide(1)
#else
#define decideFirst
#endif
#define cuttingSteps decideFirst :: open(1) :: close(1) eachAt(1, cut) eachAt(1, report) each(claim) each(closedIsRight)

#ifdef DECISIONS
active proctype decisions() {
  at[1].up = 1;
  at[1].known = 1;
  do
  :: commitAndAnnounce(0, 1)
#ifdef TABLES
  :: activateInStore(0, 1)
  :: prepare(1) :: cannotPrepare(1)
  :: loadTables(1) :: storeTables(1)
#elif !defined(CUTTING)
  :: commitAndAnnounce(0, 2)
#endif
#ifdef MOVES
  :: commitAndAnnounce(0, 3)
#endif
  eachAt(1, answerRightly)
  eachAt(1, apply)
  :: readFeed(1)
  :: getRightly(1, 0) :: getRightly(1, 1)
  :: giveUp(1)
  :: expire(1)
#ifdef TABLES
  :: load(1, 0) :: store(1, 0)
#elif !defined(CUTTING)
  :: load(1, 0) :: load(1, 1)
  :: store(1, 0) :: store(1, 1)
  :: takeShared(1, 0, 0) :: takeShared(1, 1, 0)
  eachOf(takeSharedOfFirst, 1)
  eachOf(takeSharedOfSecond, 1)
#endif
  :: ask(1, 1) :: ask(1, 0)
  :: hasLease(1)
#ifdef CUTTING
  cuttingSteps
#elif defined(TABLES)
  :: decideByTables(1)
  :: passGate(1)
  :: endWait(1)
#else
  :: lookAtOne(1)
  :: lookAtBoth(1)
  :: lookAtFirst(1)
  :: lookAtSecond(1)
#endif
  od
}
#else
active proctype explore() {
  at[0].listed = 1;
  at[0].up = 1;
  at[1].up = 1;
  do
#ifdef PROTOCOL
  :: commitAndAnnounce(0, 1) :: commitAndAnnounce(1, 1)
#else
  :: commit(0, 1) :: commit(1, 1) :: commit(0, 2) :: commit(1, 2)
  each(announce)
  each(writerDies)
  eachOf(acknowledged, 0)
  eachOf(forget, 0)
#endif
  each(readList)
  each(answer)
  eachOf(acknowledged, 1)
  eachOf(forget, 1)
  :: enlist(1)
  :: note(1)
  :: snapshot(1)
  :: beat(1)
  :: giveUp(1)
  :: isUnlisted(1)
  :: receive(1)
  eachAt(1, apply)
  :: get(1, 0)
  :: get(1, 1)
  :: workerDies(1)
  :: join(1)
#ifdef CUTTING
  :: ask(1, 1) :: ask(1, 0)
  :: hasLease(1)
  cuttingSteps
#elif defined(PROTOCOL)
  :: leaseIsRight(1)
#else
  :: load(1, 0) :: load(1, 1)
  :: store(1, 0) :: store(1, 1)
  :: takeShared(1, 0, 0) :: takeShared(1, 1, 0)
  eachOf(takeSharedOfFirst, 1)
  eachOf(takeSharedOfSecond, 1)
  :: ask(1, 1) :: ask(1, 0)
  :: hasLease(1)
  :: lookAtOne(1)
  :: lookAtBoth(1)
  :: lookAtFirst(1)
  :: lookAtSecond(1)
#endif
  :: tick()
  od
}
#endif
