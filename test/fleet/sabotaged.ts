/**
 * `seatgate`, broken on purpose: the first argument says how, the rest are its own. For sabotage.test.ts alone, which
 * shows that the checker sees what it is there to see.
 */

import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { Lease } from '../../src/coherence/lease.ts'
import { RemoteDecider } from '../../src/coherence/worker-link.ts'

/** Milliseconds that workers hear of changes later than others are told they have. */
const LATE = 100

const SABOTAGE: Readonly<Record<string, () => void>> = {
  /** All are told, and nobody is waited for. */
  'answers-at-once'() {
    const { announce } = Instance.prototype
    Instance.prototype.announce = async function (committed) {
      void announce.call(this, committed)
    }
  },
  'lease-never-ends'() {
    Lease.prototype.live = () => true
  },
  'believes-the-cache'() {
    History.prototype.isCurrent = () => true
  },
  /** An instance speaks for workers that it has told, and that may not have heard. */
  'speaks-for-workers'() {
    const { applyReading, applyAnnouncement } = RemoteDecider.prototype
    RemoteDecider.prototype.applyReading = async function (reading) {
      void applyReading.call(this, reading)
    }
    RemoteDecider.prototype.applyAnnouncement = async function (changes) {
      setTimeout(() => void applyAnnouncement.call(this, changes).catch(() => {}), LATE)
    }
  },
}

const [how = ''] = process.argv.splice(2, 1)
const breakIt = SABOTAGE[how]
if (breakIt === undefined) throw new Error(`there is no sabotage "${how}"`)
breakIt()
await import('../../src/cli/main.ts')
