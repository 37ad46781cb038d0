/**
 * `seatgate` with a protocol that breaks while it runs: on SIGUSR2 it applies the variant that the file `variant` of its
 * working folder names, and removes the file. Only for the tests of broken fleets.
 */

import { readFileSync, rmSync } from 'node:fs'
import type { ChangeKind } from '../../seats-admin/model/change.ts'
import { Transaction } from '../../seats-admin/store/transaction.ts'
import { CurrentTables } from '../../src/coherence/current-tables.ts'
import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { Lease } from '../../src/coherence/lease.ts'
import { RemoteDecider } from '../../src/coherence/worker-link.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'
import type { NamedSeat } from '../../src/model/decision-seat.ts'
import { InstanceTables } from '../../src/runtime/instance-tables.ts'

/** Milliseconds between the confirmation and the delivery of an announcement to workers. */
const LATE = 100
/** Milliseconds until tables are active: longer than a push waits for what its instances cut. */
const LATE_TABLES = 3000

const INTACT = [
  CurrentTables,
  History,
  Instance,
  InstanceTables,
  Lease,
  RemoteDecider,
  SeatMemory,
  Transaction,
].map(({ prototype }) => [prototype, Object.getOwnPropertyDescriptors(prototype)] as const)

/** ms that the wall clock is ahead. */
let ahead = 0
const { now: wall } = Date
Date.now = () => wall() + ahead

/** Longer than anything lasts that `seatgate verify` makes. */
const JUMP = 3 * 3_600_000

const VARIANTS: Readonly<Record<string, () => void>> = {
  intact() {},
  /** Announces, and waits for no acknowledgement. */
  'waits-for-no-acknowledgement'() {
    const { announce } = Instance.prototype
    Instance.prototype.announce = async function (committed) {
      void announce.call(this, committed)
    }
  },
  /** Announces no end of a session. */
  'announces-no-session'() {
    const { announce } = Instance.prototype
    Instance.prototype.announce = async function (committed) {
      if (committed.changes.every(({ kind }) => kind === 'session')) return
      await announce.call(this, committed)
    }
  },
  'forgets-no-seat': () => withoutChangesOf('seat'),
  /** A token from before a name was given up counts for the next Seat of that name. */
  'revives-names'() {
    const { seatByName } = SeatMemory.prototype
    SeatMemory.prototype.seatByName = function (...question) {
      const found = seatByName.apply(this, question)
      return found instanceof Promise ? found.then(withoutMark) : withoutMark(found)
    }
  },
  /** Acknowledges tables, activates them late, and decides by the former ones until then. */
  'activates-tables-late'() {
    const { received } = InstanceTables.prototype
    InstanceTables.prototype.received = function (changes) {
      const isActivation = changes?.some(({ kind }) => kind === 'tables') ?? false
      if (!isActivation) return received.call(this, changes)
      setTimeout(() => received.call(this, changes), LATE_TABLES)
    }
    CurrentTables.prototype.areCurrent = () => true
    CurrentTables.prototype.areReplaced = () => false
  },
  'clock-jumps'() {
    ahead = JUMP
  },
  /** Acknowledges every fourth write to a Seat that is there, and does not make it. */
  'loses-writes'() {
    const { commitAdministrative } = Transaction.prototype
    let writes = 0
    Transaction.prototype.commitAdministrative = async function (parts, changes, given, changed) {
      const isLost = (changed?.seats?.length ?? 0) > 0 && ++writes % 4 === 0
      if (isLost) return { ...this.unchanged, keyAdministers: false }
      return commitAdministrative.call(this, parts, changes, given, changed)
    }
  },
  'forgets-no-session': () => withoutChangesOf('session'),
  'forgets-no-block': () => withoutChangesOf('block'),
  'lease-never-expires'() {
    Lease.prototype.live = () => true
  },
  'accepts-all-cached-values'() {
    History.prototype.isCurrent = () => true
  },
  /** Confirms for workers that may not have received the changes yet. */
  'confirms-for-workers'() {
    const { applyReading, applyAnnouncement } = RemoteDecider.prototype
    RemoteDecider.prototype.applyReading = async function (reading) {
      void applyReading.call(this, reading)
    }
    RemoteDecider.prototype.applyAnnouncement = async function (changes) {
      setTimeout(() => void applyAnnouncement.call(this, changes).catch(() => {}), LATE)
    }
  },
}

function withoutMark(found: NamedSeat): NamedSeat {
  return { ...found, givenUpAt: null }
}

/** Memory keeps what it has of a kind, whatever the feed says. */
function withoutChangesOf(kind: ChangeKind): void {
  const { applyReading, applyAnnouncement } = SeatMemory.prototype
  SeatMemory.prototype.applyReading = function (changes, head) {
    applyReading.call(this, changes?.filter((change) => change.kind !== kind) ?? null, head)
  }
  SeatMemory.prototype.applyAnnouncement = function (changes) {
    applyAnnouncement.call(
      this,
      changes.filter((change) => change.kind !== kind),
    )
  }
}

process.on('SIGUSR2', () => {
  const how = readFileSync('variant', 'utf8')
  const applyVariant = VARIANTS[how]
  if (applyVariant === undefined) throw new Error(`no variant "${how}"`)
  for (const [prototype, methods] of INTACT) Object.defineProperties(prototype, methods)
  ahead = 0
  applyVariant()
  rmSync('variant')
})
await import('../../src/cli/main.ts')
