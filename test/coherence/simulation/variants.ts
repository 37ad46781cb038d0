/**
 * Variants of the protocol, each broken in one way. The simulation must find each of them; only then does its
 * result for the real protocol mean anything.
 */

import type { Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import type { ChangeKind, NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import {
  noticeOf,
  NOTHING_OPEN,
  type OpenCounts,
  type ReachedInstance,
  type RevocationNotice,
} from '../../../seats-admin/model/revocation.ts'
import type { Clock } from '../../../src/coherence/clock.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { History } from '../../../src/coherence/history.ts'
import { Instance, type InstanceOptions } from '../../../src/coherence/instance.ts'
import { CurrentTables } from '../../../src/coherence/current-tables.ts'
import { TablePush } from '../../../src/runtime/table-push.ts'
import { LEASE, Lease, MARGIN } from '../../../src/coherence/lease.ts'
import { RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { DecisionEngine } from '../../../src/decision/engine.ts'
import { type SeatChange, SeatMemory } from '../../../src/decision/seats/memory.ts'
import type { DirectSource, SeatSource } from '../../../src/decision/seats/record-sources.ts'
import { ReceivedChanges } from '../../../src/decision/seats/received-changes.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { Changes } from '../../../src/pipeline/pending-changes.ts'
import { Reevaluation } from '../../../src/pipeline/reevaluation.ts'
import type { Violation } from './checker.ts'
import { maker, type Parts, REAL_PARTS, sessionsOf } from './parts.ts'
import type { StoreClient } from './store-client.ts'
import type { Stream } from './streams.ts'

/** The object, with some members replaced. Its methods use private fields, so they are called on itself. */
function replaced<O extends object>(object: O, members: Partial<O>): O {
  return new Proxy(object, { get: (_, name) => Reflect.get(members, name) ?? bound(object, name) })
}

function bound(object: object, name: string | symbol) {
  const member: unknown = Reflect.get(object, name)
  return typeof member === 'function' ? member.bind(object) : member
}

/** Acknowledges a write before the other deciders have applied it. */
class AcknowledgesAtOnce extends Instance {
  override async announce(...committed: Parameters<Instance['announce']>): Promise<void> {
    void super.announce(...committed)
  }
}

class NeverExpires extends Lease {
  #had = false

  override live(): boolean {
    this.#had ||= super.live()
    return this.#had
  }
}

/** Counts the lease from when the response of the store arrived. */
function countsFromResponse(...[renewer, listeners, clock]: ConstructorParameters<typeof Lease>): Lease {
  const lease = new Lease(renewer, listeners, clock)
  const applyReading: Lease['applyReading'] = (reading) => {
    const isGood = reading.noted > Number.NEGATIVE_INFINITY
    lease.applyReading(isGood ? { ...reading, noted: clock.now(), notedWall: clock.wall() } : reading)
  }
  return replaced(lease, { applyReading })
}

/** Accepts every value of the shared cache. */
class AcceptsAllValues extends History {
  override isCurrent(): boolean {
    return true
  }
}

/** Drops what was announced at a reading without changes. */
class DropsAnnouncements extends History {
  override applyReading(changes: readonly NumberedChange[] | null, head: Position): void {
    // No announcement is newer than this head, so none is kept.
    if (changes === null) super.applyReading(null, { seq: Infinity, mark: 0 })
    super.applyReading(changes, head)
  }
}

/** Memory that no change of one kind reaches. */
function withoutChangesOf(kind: ChangeKind): Parts['memory'] {
  return maker(
    class extends SeatMemory {
      override applyAnnouncement(changes: readonly SeatChange[]): void {
        super.applyAnnouncement(changes.filter((change) => change.kind !== kind))
      }
    },
  )
}

/** Memory that a group's new name does not reach, as it concerns all users. */
class ForgetsNoGroup extends SeatMemory {
  override applyAnnouncement(changes: readonly SeatChange[]): void {
    super.applyAnnouncement(changes.filter(({ kind, key }) => kind !== 'membership' || key !== 'null'))
  }

  override applyReading(...[changes, head]: Parameters<SeatMemory['applyReading']>): void {
    super.applyReading(
      changes?.filter(({ kind, key }) => kind !== 'membership' || key !== 'null') ?? null,
      head,
    )
  }
}

/** A decision does not learn that the groups that it has read have changed. */
class WatchesNoGroups extends SeatMemory {
  override groupsOf(tenant: string, member: string) {
    return super.groupsOf(tenant, member)
  }
}

/** The same of grants. */
class WatchesNoGrants extends SeatMemory {
  override grantsOf(...[caller]: Parameters<SeatMemory['grantsOf']>) {
    return super.grantsOf(caller)
  }
}

/** Grants count by one clock: the wall clock, or that of the store. */
function countsBy(clock: 'wall' | 'store'): Parts['memory'] {
  return (source, direct, bytes, options = {}) => {
    const { now = () => 0, wall = () => 0 } = options
    let offset = 0
    const of = <R extends { readonly now: number }>(value: R): R => {
      offset = now() - value.now
      return clock === 'wall' ? { ...value, now: wall() } : value
    }
    const own = replaced(direct, {
      grants: async (tenant) => {
        const reading = await direct.grants(tenant)
        return { ...reading, value: of(reading.value) }
      },
      userGrants: async (...asked) => {
        const reading = await direct.userGrants(...asked)
        return { ...reading, value: of(reading.value) }
      },
    })
    const clocks = clock === 'wall' ? { now: wall, wall } : { now, wall: () => now() - offset }
    return new SeatMemory(source, own, bytes, { ...options, ...clocks })
  }
}

/** Does not tell until when a decision by a grant holds. */
class ForgetsGrants extends DecisionEngine {
  override evaluate(...asked: Parameters<DecisionEngine['evaluate']>) {
    const evaluation = super.evaluate(...asked)
    return evaluation instanceof Promise
      ? evaluation.then((late) => ({ ...late, grants: null }))
      : { ...evaluation, grants: null }
  }
}

/** Open requests do not depend on changes of this kind. */
function cutsNothingBy(kind: ChangeKind): Parts['changes'] {
  return () => {
    const changes = new Changes()
    const announced = changes.applyAnnouncement.bind(changes)
    changes.applyAnnouncement = (all) => announced(all.filter((change) => change.kind !== kind))
    return changes
  }
}

/** Memory that takes the answers of these reads for those after every change that it has received. */
function keepsAnswersOf(...reads: readonly (keyof SeatSource | keyof DirectSource)[]): Parts['memory'] {
  return (source, direct, bytes, options) => {
    const newest = <S extends object>(of: S): S =>
      new Proxy(of, {
        get(_, name) {
          const read = bound(of, name)
          if (!reads.some((each) => each === name)) return read
          return async (...asked: unknown[]) => {
            const answer = await read(...asked)
            return { ...answer, seq: Math.max(answer.seq, options?.received?.position ?? 0) }
          }
        },
      })
    return new SeatMemory(newest(source), newest(direct), bytes, options)
  }
}

/** Takes an announcement as applied once it is sent to the worker. */
class ConfirmsForWorker extends RemoteDecider {
  override async applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> {
    super.applyAnnouncement(changes).catch(() => {})
  }
}

/** An instance with another clock. */
function withClock(parts: InstanceOptions, overrides: Partial<Clock>): InstanceOptions {
  return { ...parts, clock: { ...parts.clock, ...overrides } }
}

/** Gives a decider a lease by any reading, also by one that began before it joined. */
function leaseFromBeforeJoin(parts: InstanceOptions): Instance {
  let isJoining = false
  const now = () => (isJoining ? Number.NEGATIVE_INFINITY : parts.clock.now())
  const instance = new Instance(withClock(parts, { now }))
  const join: Instance['join'] = (decider) => {
    isJoining = true
    instance.join(decider)
    isJoining = false
  }
  return replaced(instance, { join })
}

/** Does not wait for the margin: too short for clocks that differ by a tenth. */
function withoutMargin(parts: InstanceOptions): Instance {
  const after: Clock['after'] = (ms, run) => parts.clock.after(ms === LEASE + MARGIN ? LEASE : ms, run)
  return new Instance(withClock(parts, { after }))
}

/** Removes the instances that are missing after the wait, however late it has read the list. */
function removesAtOnce(parts: InstanceOptions): Instance {
  let forgets = false
  const answered: InstanceOptions['listener']['answered'] = (how) => {
    parts.listener.answered(how)
    forgets = how.by === 'waited'
    queueMicrotask(() => {
      forgets = false
    })
  }
  const after: Clock['after'] = (ms, run) => parts.clock.after(forgets ? 0 : ms, run)
  return new Instance({ ...withClock(parts, { after }), listener: { ...parts.listener, answered } })
}

/** Acknowledges an announcement after any reading, whether or not it shows the change. */
function acknowledgesAnyReading(parts: InstanceOptions): Instance {
  const { id, bus } = parts
  if (bus === null) return new Instance(parts)
  const open: Bus['open'] = (_, receiver) => {
    const announced: BusReceiver['announced'] = (announcement) => {
      if (announcement.changes !== null) return receiver.announced(announcement)
      const { from, number } = announcement
      const acknowledge = () => bus.acknowledge({ to: from, from: id, number })
      instance.renew().then(acknowledge, () => {})
    }
    bus.open(id, { announced, acknowledged: (acknowledgement) => receiver.acknowledged(acknowledgement) })
  }
  const instance = new Instance({ ...parts, bus: replaced(bus, { up: true, open }) })
  return instance
}

/** A decision that waited does not learn that a record which it has read has changed. */
class WatchesNothing extends ReceivedChanges {
  override concerns(): boolean {
    return false
  }
}

/** Memory uses a value of a later position, without what changed before that. */
class ReceivesNothing extends ReceivedChanges {
  override async receive(): Promise<void> {}
}

/** Acknowledges a change before those that were committed before it have arrived. */
class AcknowledgesWithGaps extends Lease {
  override applyAnnouncement(changes: readonly NumberedChange[]): void {
    void super.applyAnnouncement(changes)?.catch(() => {})
  }
}

/** Counts as received up to the newest change, whatever is missing before. */
class IgnoresGaps extends ReceivedChanges {
  override changed(...[kind, tenant, key, seq]: Parameters<ReceivedChanges['changed']>): void {
    super.changed(kind, tenant, key, seq)
    this.readTo(seq, true)
  }
}

/** Says at once that its worker has nothing to cut. */
class AnswersForWorker extends RemoteDecider {
  override async cutBy(): Promise<OpenCounts> {
    return NOTHING_OPEN
  }
}

/** Takes those that are reached in one way for closed, whatever they have said. */
function assumesClosed(how: ReachedInstance['how']): Parts['instance'] {
  return maker(
    class extends Instance {
      override async revoke(...asked: Parameters<Instance['revoke']>): ReturnType<Instance['revoke']> {
        const reached = await super.revoke(...asked)
        return reached.map((each) => ({
          ...each,
          cut: each.how === how ? (each.cut ?? NOTHING_OPEN) : each.cut,
        }))
      }
    },
  )
}

/** Memory that takes the caller's time of issue for another one. */
function restrictsAt(issuedAt: (of: number) => number): Parts['memory'] {
  return maker(
    class extends SeatMemory {
      override restriction(...[caller, trace]: Parameters<SeatMemory['restriction']>) {
        return super.restriction({ ...caller, issuedAt: issuedAt(caller.issuedAt) }, trace)
      }
    },
  )
}

/** Revocations reach memory by announcements alone. */
class ReadsNoRevocations extends SeatMemory {
  override applyReading(...[changes, head]: Parameters<SeatMemory['applyReading']>): void {
    super.applyReading(changes?.filter(({ kind }) => kind !== 'revocation') ?? null, head)
  }
}

/** The changes, with other notices of revocations. */
function withNotices<C extends SeatChange>(
  changes: readonly C[],
  other: (notice: RevocationNotice) => RevocationNotice,
): C[] {
  return changes.map((change) => {
    const notice = change.kind === 'revocation' ? noticeOf(change.key) : null
    return notice === null ? change : { ...change, key: JSON.stringify(other(notice)) }
  })
}

/** Takes the sessions that a commit lists for all that it has ended. */
class TakesListForWhole extends SeatMemory {
  override applyAnnouncement(changes: readonly SeatChange[]): void {
    super.applyAnnouncement(withNotices(changes, (notice) => ({ ...notice, listed: true })))
  }

  override applyReading(...[changes, head]: Parameters<SeatMemory['applyReading']>): void {
    super.applyReading(changes && withNotices(changes, (notice) => ({ ...notice, listed: true })), head)
  }
}

/** Open requests are cut as by a revocation at another time, in ms. */
function cutsAt(at: (of: number) => number): Parts['changes'] {
  return () => {
    const changes = new Changes()
    const announced = changes.applyAnnouncement.bind(changes)
    // Readings are applied in the same way.
    changes.applyAnnouncement = (all) =>
      announced(withNotices(all as NumberedChange[], (notice) => ({ ...notice, at: at(notice.at) })))
    return changes
  }
}

/** Says of a revocation that it has read, and that was not announced, that it has cut nothing. */
class CutsWhatIsAnnounced extends Changes {
  override applyReading(changes: Parameters<Changes['applyReading']>[0]): void {
    for (const { kind, mark } of changes ?? []) if (kind === 'revocation') this.hasCut(mark, NOTHING_OPEN)
    super.applyReading(changes?.filter(({ kind }) => kind !== 'revocation') ?? null)
  }
}

/** Takes each token for one that ends with its `iat`. */
const endsWithIat: Parts['readToken'] = (text) => {
  const principal = REAL_PARTS.readToken(text)
  return principal instanceof Refusal ? principal : { ...principal, issuedAt: Math.floor(text.iat ?? 0) }
}

/** Takes what the list says of any revocation for what it says of the one that waits. */
function countsAnyReport(parts: InstanceOptions): Instance {
  const { list } = parts
  let mark = 0
  const reachable: InstanceList['reachable'] = async () =>
    ((await list?.reachable()) ?? []).map((each) => ({
      ...each,
      cuts: each.cuts.map(({ cut }) => ({ mark, cut })),
    }))
  const instance = new Instance({ ...parts, list: list && replaced(list, { reachable }) })
  const revoke: Instance['revoke'] = (committed) => {
    mark = committed.mark
    return instance.revoke(committed)
  }
  return replaced(instance, { revoke })
}

/** Re-evaluation that sees only some of the open exchanges. */
function watchesOnly(isSeen: (stream: Stream) => boolean): Parts['reevaluation'] {
  return (changes, exchanges, clock) => {
    const inFlight = {
      has: (stream: Stream) => exchanges.inFlight.has(stream),
      [Symbol.iterator]: () => Iterator.from(exchanges.inFlight).filter(isSeen),
    }
    return new Reevaluation(changes, replaced(exchanges, { inFlight }), clock)
  }
}

class IgnoresReloads extends Reevaluation<Stream> {
  override reloaded(): void {}
}

/** Decides by its tables, whatever the feed shows. */
class AlwaysCurrent extends CurrentTables {
  override areCurrent(): boolean {
    return true
  }

  override areReplaced(): boolean {
    return false
  }
}

/** Forgets activations that arrive before the store was read. */
class ForgetsActivations extends CurrentTables {
  #isKnown = false

  override applyAnnouncement(changes: readonly NumberedChange[]): void {
    super.applyAnnouncement(this.#isKnown ? changes : changes.filter(({ kind }) => kind !== 'tables'))
  }

  override async check(): Promise<void> {
    await super.check()
    this.#isKnown = true
  }
}

/** Takes the version with which it starts for that of the store. */
const trustsItsVersion: Parts['currentTables'] = (start, lease, reader, ...rest) => {
  let isFirst = true
  const checkTables: typeof reader.checkTables = async () => {
    if (!isFirst) return reader.checkTables()
    isFirst = false
    return { version: start.version, digest: start.digest, seq: lease.received }
  }
  return new CurrentTables(start, lease, replaced(reader, { checkTables }), ...rest)
}

/** Takes an activation for one that all earlier changes have preceded. */
const ignoresEarlierChanges: Parts['currentTables'] = (start, lease, ...rest) =>
  new CurrentTables(start, replaced(lease, { received: Infinity }), ...rest)

/** Says what it has cut for tables as soon as they are active, before it has decided again. */
class CutsLater extends Changes {
  override addTables(mark: number): void {
    super.addTables(mark)
    this.hasCut(mark, NOTHING_OPEN)
  }
}

/** Answers a push before the other instances have received the activation. */
const pushesAtOnce: Parts['tablePush'] = (parts) => {
  const revoke: Instance['revoke'] = async (committed) => {
    void parts.instance.revoke(committed)
    return []
  }
  return new TablePush({ ...parts, instance: replaced(parts.instance, { revoke }) })
}

/** Asks no other instance whether it is ready. */
const asksNone: Parts['tablePush'] = (parts) =>
  new TablePush({ ...parts, store: { ...parts.store, registry: null } })

function listed(change: (store: StoreClient) => Partial<InstanceList>): Parts['list'] {
  return (store) => replaced<InstanceList>(store, change(store))
}

/** Name → the parts that replace those of {@link REAL_PARTS}. */
export const VARIANTS: Readonly<Record<string, Partial<Parts>>> = {
  'no wait for acknowledgements': { instance: maker(AcknowledgesAtOnce) },
  'a lease never expires': { lease: maker(NeverExpires) },
  'a lease counts from the end of the reading': { lease: countsFromResponse },
  'every value of the shared cache counts': { history: maker(AcceptsAllValues) },
  'a reading without changes drops what was announced': { history: maker(DropsAnnouncements) },
  'memory keeps an answer from before the change': {
    memory: keepsAnswersOf('grantByName', 'grantById', 'spacesByName', 'seatById', 'apiKeyById'),
  },
  'memory keeps a session from before its end': { memory: keepsAnswersOf('readSession') },
  'memory keeps a list of blocks from before the block': { memory: keepsAnswersOf('restrictions') },
  'memory keeps the answer about a user from before the block': { memory: keepsAnswersOf('userRestriction') },
  'the end of a session does not reach memory': { memory: withoutChangesOf('session') },
  'a block does not reach memory': { memory: withoutChangesOf('block') },
  'memory keeps groups from before the change': { memory: keepsAnswersOf('groups') },
  'memory keeps a list of grants from before the change': { memory: keepsAnswersOf('grants') },
  'memory keeps the grants of a user from before the change': { memory: keepsAnswersOf('userGrants') },
  'a change of groups does not reach memory': { memory: withoutChangesOf('membership') },
  'a change of grants does not reach memory': { memory: withoutChangesOf('grant') },
  'the new name of a group does not reach memory': { memory: maker(ForgetsNoGroup) },
  'a decision mixes the groups of two states': { memory: maker(WatchesNoGroups) },
  'a decision mixes the grants of two states': { memory: maker(WatchesNoGrants) },
  'a grant counts by the wall clock alone': { memory: countsBy('wall') },
  'a grant counts by the clock of the store alone': { memory: countsBy('store') },
  'a stream outlives its grant': { engine: maker(ForgetsGrants) },
  'a stream outlives its groups': { changes: cutsNothingBy('membership') },
  'a stream outlives a grant that is deleted': { changes: cutsNothingBy('grant') },
  'a cached decision outlives its inputs': {
    engine: (options) => {
      const received = replaced(options.seats.received, { generation: 0 })
      return new DecisionEngine({ ...options, seats: replaced(options.seats, { received }) })
    },
  },
  'an unlisted instance has a lease': {
    list: listed((store) => ({
      follow: async (...args) => ({ ...(await store.follow(...args)), registered: true }),
    })),
  },
  'a reading from before the registration gives a lease': {
    list: listed((store) => ({
      register: async () => {},
      follow: async (id, ...args) => {
        const found = await store.follow(id, ...args)
        if (!found.registered) await store.register(id, id)
        return { ...found, registered: true }
      },
    })),
  },
  'an instance is removed whatever its beat': {
    list: listed((store) => ({ forget: (id) => store.forget(id, null) })),
  },
  'an instance is removed at once': {
    list: listed((store) => ({
      reachable: async () => {
        const found = await store.reachable()
        for (const { id, beat } of found) void store.forget(id, beat).catch(() => {})
        return found
      },
    })),
  },
  'a revocation does not name an instance that was removed': {
    list: listed((store) => ({
      reachable: async () => (await store.reachable()).filter(({ gone }) => !gone),
    })),
  },
  'a worker has a lease from before it joined': { instance: leaseFromBeforeJoin },
  'an announcement to a worker counts as applied when sent': { remoteDecider: maker(ConfirmsForWorker) },
  'a beat reports changes that workers have not applied': {
    list: listed((store) => ({
      follow: (id, beat, position) => store.follow(id, beat, position, position?.seq ?? 0),
    })),
  },
  'a reading from before an announcement acknowledges it': { instance: acknowledgesAnyReading },
  'no margin': { instance: withoutMargin },
  'a renewal brings an ended session back': { sessions: (store) => sessionsOf(store, false) },
  'a renewal is not announced': { announceRenewal: () => async () => {} },
  'a decision that waited is not made again': { received: maker(WatchesNothing) },
  'memory is not brought up to the position of a value': { received: maker(ReceivesNothing) },
  'an acknowledgement does not wait for earlier changes': { lease: maker(AcknowledgesWithGaps) },
  'a gap in the received changes does not count': { received: maker(IgnoresGaps) },
  'a process says what it has cut before it has': { cutBy: async () => NOTHING_OPEN },
  'the primary says what its workers have cut': { remoteDecider: maker(AnswersForWorker) },
  'an instance that has not said what it has cut counts as closed': {
    instance: assumesClosed('acknowledged'),
  },
  'an instance whose lease has ended counts as closed': { instance: assumesClosed('lease_ended') },
  'what an instance has cut for another revocation counts': { instance: countsAnyReport },
  'a token of the second of a revocation counts': { memory: restrictsAt((at) => at + 1) },
  'a revocation has a leeway': { memory: restrictsAt((at) => at - 1) },
  'a token without iat outlives a revocation': {
    memory: restrictsAt((at) => (at === -Infinity ? Infinity : at)),
  },
  'a session ends with the iat of its token': { readToken: endsWithIat },
  'a revocation does not reach memory': { memory: withoutChangesOf('revocation') },
  'a revocation reaches memory by announcements alone': { memory: maker(ReadsNoRevocations) },
  'sessions that a revocation does not list stay in memory': { memory: maker(TakesListForWhole) },
  'a stream with a token of the second of a revocation stays open': { changes: cutsAt((at) => at - 1000) },
  'a stream with a token of the next second is cut': { changes: cutsAt((at) => at + 1000) },
  'a revocation that is read cuts nothing': { changes: maker(CutsWhatIsAnnounced) },
  'tables are always current': { currentTables: maker(AlwaysCurrent) },
  'a push is answered before its activation has arrived': { tablePush: pushesAtOnce },
  'a push does not wait for the answers of instances': { tablePush: asksNone },
  'tables decide before earlier changes have arrived': { currentTables: ignoresEarlierChanges },
  'an instance trusts the version with which it starts': { currentTables: trustsItsVersion },
  'an activation before the first reading of tables is forgotten': {
    currentTables: maker(ForgetsActivations),
  },
  'a decision that waited counts by the former tables': {
    evaluateCurrent: (active, _files, request) => active().evaluate(request),
  },
  'a process says what it has cut for tables before it has decided again': { changes: maker(CutsLater) },
  're-evaluation forgets requests that are not decided yet': {
    reevaluation: watchesOnly(({ evaluation }) => evaluation !== null),
  },
  're-evaluation forgets a reload': { reevaluation: maker(IgnoresReloads) },
}

/** Variants that a stream shows, which stays open. */
const SHOWN_BY_STREAMS: ReadonlySet<string> = new Set([
  're-evaluation forgets changes during an evaluation',
  're-evaluation forgets requests that are not decided yet',
  're-evaluation forgets a reload',
  'a stream outlives its grant',
  'a stream outlives its groups',
  'a stream outlives a grant that is deleted',
])

/** Variants that the answer to a revocation shows. */
const SHOWN_BY_ANSWERS: ReadonlySet<string> = new Set([
  'what an instance has cut for another revocation counts',
  'a stream with a token of the second of a revocation stays open',
  'a revocation that is read cuts nothing',
  'a process says what it has cut before it has',
  'the primary says what its workers have cut',
  'an instance that has not said what it has cut counts as closed',
  'an instance whose lease has ended counts as closed',
  'a revocation does not name an instance that was removed',
  'a process says what it has cut for tables before it has decided again',
])

/**
 * Whether the violation shows that the variant is broken: a decision on an old state, or on none.
 *
 * @param name null: the real protocol, which any violation shows
 */
export function shows(name: string | null, { kind }: Violation): boolean {
  if (name === null) return true
  if (SHOWN_BY_ANSWERS.has(name)) return kind === 'uncut'
  if (name === 'a push does not wait for the answers of instances') return kind === 'unprepared'
  if (name === 'a stream with a token of the next second is cut') return kind === 'ended'
  return SHOWN_BY_STREAMS.has(name) ? kind === 'open' : kind === 'stale' || kind === 'torn'
}

/** They need several events at exact times: found once in 200,000 schedules and in some 50,000. */
export const RARE_VARIANTS: typeof VARIANTS = {
  'an instance is removed too early': { instance: removesAtOnce },
  // A decision that waits notices changes itself; only a reload is forgotten.
  're-evaluation forgets changes during an evaluation': {
    reevaluation: watchesOnly(({ evaluation, isEvaluated }) => evaluation === null || !isEvaluated),
  },
}

/** @param name null: the real protocol */
export function partsOf(name: string | null): Parts {
  if (name === null) return REAL_PARTS
  const parts = { ...VARIANTS, ...RARE_VARIANTS }[name]
  if (parts === undefined) throw new Error(`no variant "${name}"`)
  return { ...REAL_PARTS, ...parts }
}
