/**
 * `seatgate` with a protocol that breaks while it runs: on SIGUSR2 it applies the variant that the file `variant` of its
 * working folder names, and removes the file. Only for `broken-protocol.slow.test.ts`.
 */

import { readFileSync, rmSync } from 'node:fs'
import type { ChangeKind } from '../../seats-admin/model/change.ts'
import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { Lease } from '../../src/coherence/lease.ts'
import { RemoteDecider } from '../../src/coherence/worker-link.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'

/** Milliseconds between the confirmation and the delivery of an announcement to workers. */
const LATE = 100

const INTACT = [History, Instance, Lease, RemoteDecider, SeatMemory].map(
  ({ prototype }) => [prototype, Object.getOwnPropertyDescriptors(prototype)] as const,
)

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

/** Memory keeps what it has of a kind, whatever the feed says. */
function withoutChangesOf(kind: ChangeKind): void {
  const { applyReading, applyAnnouncement } = SeatMemory.prototype
  SeatMemory.prototype.applyReading = function (changes) {
    applyReading.call(this, changes?.filter((change) => change.kind !== kind) ?? null)
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
  applyVariant()
  rmSync('variant')
})
await import('../../src/cli/main.ts')
