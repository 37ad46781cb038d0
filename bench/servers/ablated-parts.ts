/** The parts that `bench/ablation.ts` can leave out. */

import { RateLimiter } from '../../src/decision/limits/rate-limiter.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'
import { UpstreamIdentity } from '../../src/proxy/upstream-identity.ts'
import { ProcessActivity } from '../../src/telemetry/process-activity.ts'
import { Tracer } from '../../src/telemetry/tracing/tracer.ts'

export interface Presence {
  /** Whether requests are served with the part now. */
  isWhole: boolean
}

type Part = (presence: Presence) => void

/** The parts by name. Each takes the place of one method, which it calls while the part is there. */
export const PARTS: ReadonlyMap<string, Part> = new Map([
  // The newest decisions and the uses of routes, which the console shows.
  ['records', leaveOutRecords],
  // The question whether a caller is blocked, or its credential void.
  ['blocks', leaveOutRestrictions],
  // These are off by default.
  ['rate-limit', leaveOutRateLimits],
  ['rate-limits', leaveOutRateLimits],
  ['identity', leaveOutIdentity],
  ['tracing-1', leaveOutTracing],
  ['tracing', leaveOutTracing],
])

function leaveOutRecords(presence: Presence): void {
  const { decided } = ProcessActivity.prototype
  ProcessActivity.prototype.decided = function (...args) {
    if (presence.isWhole) decided.apply(this, args)
  }
}

function leaveOutRestrictions(presence: Presence): void {
  const { restriction } = SeatMemory.prototype
  SeatMemory.prototype.restriction = function (...args) {
    return presence.isWhole ? restriction.apply(this, args) : null
  }
}

function leaveOutRateLimits(presence: Presence): void {
  const { take } = RateLimiter.prototype
  RateLimiter.prototype.take = function (...args) {
    return presence.isWhole ? take.apply(this, args) : null
  }
}

function leaveOutIdentity(presence: Presence): void {
  const { lineFor } = UpstreamIdentity.prototype
  UpstreamIdentity.prototype.lineFor = function (...args) {
    return presence.isWhole ? lineFor.apply(this, args) : null
  }
}

function leaveOutTracing(presence: Presence): void {
  const { begin, parentOf } = Tracer.prototype
  Tracer.prototype.parentOf = function (...args) {
    return presence.isWhole ? parentOf.apply(this, args) : null
  }
  Tracer.prototype.begin = function (...args) {
    // A request without a trace has null there, as all have without a tracer.
    return presence.isWhole ? begin.apply(this, args) : (null as unknown as ReturnType<Tracer['begin']>)
  }
}
