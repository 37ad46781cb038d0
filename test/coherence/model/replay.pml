/*
 * What happened in the simulation (test/coherence/simulation/model-trace.ts), event by event. The rules are those above, where
 * the simulation has no freedom that they leave out. A rule that can not be applied blocks, and an assertion fails: in both
 * cases the model does not have what happened.
 */

c_decl {
  static int events_[MAX_EVENTS][5], count_, taken_;
  static void tell_(void) { printf("taken: %d of %d\n", taken_, count_); }
  static void read_(void) {
    FILE *file = fopen("trace", "r");
    int *e = events_[0];
    while (file && count_ < MAX_EVENTS && fscanf(file, "%d %d %d %d %d", e, e + 1, e + 2, e + 3, e + 4) == 5) e = events_[++count_];
    atexit(tell_);
  }
}

int next; int op; int a; int b; int c; int d;

/* The clock of instance i goes on. */
inline pass(i, by_) {
  d_step {
    less(at[i].left, by_);
    less(at[i].lease, by_);
    for (y : 0 .. QUEUE - 1) {
      less(at[i].qLeft[y], by_)
    }
    for (x : 1 .. WRITES) {
      if
      :: write[x].by == i ->
        less(write[x].wait, by_);
        for (y : 0 .. INSTANCES - 1) {
          less(write[x].quietFor[y], by_)
        }
      :: else
      fi
    }
    skip
  }
}

/*
 * The list is read for all writes of the instance: for any of them it may be the first time. The primary goes on with the writes of
 * a worker that has ended, and with those that the worker has answered as the primary was frozen.
 */
inline readLists(i) {
  d_step {
    for (z : 1 .. WRITES) {
      if
      :: write[z].phase == ANNOUNCED && write[z].by == i -> readList_(z)
      :: else
      fi;
      for (x : 0 .. INSTANCES - 1) {
        if
        :: sent(z) && write[z].by == i && x != i && at[x].listed && !has(write[z].quiet, x) ->
          write[z].quiet = write[z].quiet | only(x);
          write[z].quietFor[x] = WAIT
        :: else
        fi
      }
    }
    skip
  }
}

/* An acknowledgement is sent; it may arrive much later, or never. */
inline tell(i, w) {
  d_step {
    sent(w) && (holds(i, w) || has(write[w].missed, i)) -> write[w].told = write[w].told | only(i)
  }
}

inline joinLater(i) {
  d_step {
    for (x : 1 .. WRITES) {
      write[x].missed = (sent(x) -> write[x].missed | only(i) : write[x].missed)
    }
    skip
  }
  join(i)
}

inline isTold(w, i) {
  d_step {
    has(write[w].told, i) ->
    if
    :: write[w].phase == ANNOUNCED ->
      write[w].acked = write[w].acked | only(i);
      write[w].missing = without(write[w].missing, i);
      settle(w)
    :: else
    fi;
    skip
  }
}

/* Some write removes the instance. */
inline isForgotten(i) {
  d_step {
    ok = 0;
    for (x : 1 .. WRITES) {
      ok = ok | (has(write[x].quiet, i) && write[x].quietFor[i] == 0)
    }
    assert(ok && at[i].listed);
    at[i].listed = 0;
    at[i].applied = 0
  }
}

/* From then on it decides nothing. */
inline leave(i) {
  d_step {
    at[i].listed = 0;
    at[i].applied = 0;
    at[i].ended = 1
  }
}

/* It may have to register repeatedly, as responses are lost. */
inline isEnlisted(i) {
  d_step {
    at[i].listed = 1;
    at[i].known = 1
  }
}

inline noteAs(i, reports_) {
  note(i);
  assert(reports_ <= at[i].reports);
  at[i].reports = reports_
}

/* A statement that was given up takes effect. */
inline beatLate(i, reports_) {
  d_step {
    if
    :: at[i].listed ->
      at[i].applied = reports_;
      for (x : 1 .. WRITES) {
        write[x].quiet = without(write[x].quiet, i);
        write[x].same = without(write[x].same, i);
        settle(x)
      }
    :: else
    fi;
    skip
  }
}

/* Also a repeated announcement. */
inline applyAny(i, w) {
  d_step {
    at[i].up && sent(w) ->
    drop(i, w);
    at[i].received = (w > at[i].read -> at[i].received | only(w) : at[i].received)
  }
}

inline endLease(i) {
  d_step {
    at[i].lease = 0;
    at[i].ended = 1
  }
}

/* ok := whether the worker may have a value of the key now: the one of write v, or one by which the record exists or not */
inline mayHave(i, k, v, exists) {
  d_step {
    newest(i, k);
    y = n;
    ok = 0;
    for (z : 0 .. WRITES) {
      if
      :: z <= head && z >= y && has(at[i].loaded[k], z) && isReached(i, z) ->
        value(k, z);
        ok = ok | (v >= 0 -> n == v : has(write[n].gone, k) != exists)
      :: else
      fi
    }
    assert(ok)
  }
}

active proctype replay() {
  do
  :: d_step {
      c_code {
        if (!count_) read_();
        taken_ = now.next;
        now.op = 0;
        if (now.next < count_) {
          int *e = events_[now.next++];
          now.op = e[0]; now.a = e[1]; now.b = e[2]; now.c = e[3]; now.d = e[4];
        }
      }
    }
    if
    :: op == 0 -> break
    :: op == E_time -> pass(a, b)
    :: op == E_commit -> commit(a, b); write[head].gone = c
    :: op == E_announce -> announce(a)
    :: op == E_answer -> answer(a)
    :: op == E_list -> readLists(a)
    :: op == E_confirm -> tell(a, b)
    :: op == E_confirmed -> isTold(a, b)
    :: op == E_forget -> isForgotten(a)
    :: op == E_leave -> leave(a)
    :: op == E_enlist -> isEnlisted(a)
    :: op == E_note -> noteAs(a, b)
    :: op == E_snapshot -> snapshot(a); assert(at[a].found == b)
    :: op == E_beat -> beat(a)
    :: op == E_late -> beatLate(a, b)
    :: op == E_receive -> receive(a)
    :: op == E_lose -> giveUp(a)
    :: op == E_unlisted -> isUnlisted(a)
    :: op == E_get -> assert(at[a].queued > 0 && at[a].qHead[0] == b); get(a, c)
    :: op == E_apply -> applyAny(a, b)
    :: op == E_join -> joinLater(a)
    :: op == E_end -> workerDies(a)
    :: op == E_retire -> endLease(a)
    :: op == E_live -> assert(at[a].up && at[a].lease > 0 && !at[a].ended)
    :: op == E_load -> at[a].loaded[b] = at[a].loaded[b] | only(c)
    :: op == E_look -> mayHave(a, b, c, d)
    :: op == E_base -> write[0].gone = a
    fi
  od
}
