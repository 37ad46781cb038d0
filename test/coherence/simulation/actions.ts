/** Applies an action of a schedule to the gateways that exist at that time. */

import type { Decider } from './decider.ts'
import type { Process } from './process.ts'
import type { Action } from './schedule.ts'
import { GRANT, HOLDINGS, type StoredRecord, RECORDS, SEATS } from './records.ts'
import type { World } from './world.ts'

export function perform(world: World, action: Action): void {
  world.context.trace?.(describe(action))
  switch (action.kind) {
    case 'write':
      return write(world, action)
    case 'apply':
      return apply(world, action)
    case 'provision':
      return provision(world, action)
    case 'set the store clock':
      world.database.clockStep += action.by
      return
    case 'revoke':
      return open(world, action.target, (decider) => decider.revoke(action))
    case 'sign in':
      return open(world, action.target, (decider) => decider.signIn())
    case 'reload':
      return open(world, action.target, (decider) => world.gatewayOf(decider)?.reload(decider))
    case 'push':
      return open(world, action.target, (decider) => world.push(decider, action))
    case 'restore the tables':
      return world.database.restoreTables()
    case 'write from outside':
      return world.writeFromOutside(record(action.record))
    case 'ask':
      return ask(world, action.target)
    case 'freeze':
      return freeze(world, picked(processes(world), action.target), action.lasts)
    case 'kill':
      return picked(processes(world), action.target)?.end()
    case 'kill a worker':
      return picked(workers(world), action.target)?.end()
    case 'leave':
      return picked(world.gateways, action.target)?.leave()
    case 'begin':
      return world.begin(action.workers)
    case 'cut':
      return cut(world, action)
    case 'set the wall clock':
      return stepWall(world, action)
    case 'copy Redis':
      return world.redis.copy()
    case 'empty Redis':
      return world.redis.clear()
    case 'set Redis back':
      return world.redis.failOver()
  }
}

type Of<K extends Action['kind']> = Extract<Action, { readonly kind: K }>

function write(world: World, { target, record: number, deletes, further }: Of<'write'>): void {
  const records = [record(number)]
  open(world, target, (decider) => decider.write({ records, deletes: deletes ? records : [], further }))
}

function provision(
  world: World,
  { target, record: number, begins, lasts, ...action }: Of<'provision'>,
): void {
  const written = picked(HOLDINGS, number)
  if (written === undefined) return
  const { timeline } = world.context
  const from = timeline.now + begins
  const term = { from: begins === 0 ? 0 : from, until: from + lasts }
  const write = { records: [written], deletes: action.deletes ? [written] : [], term, isWide: action.isWide }
  open(world, target, (decider) => decider.write(write))
  if (written === GRANT) world.grantEnds(term.until * 1.13 + 20)
}

function apply(world: World, { target, deletes: bits, swaps }: Of<'apply'>): void {
  const deletes = SEATS.filter((_, at) => (bits & (1 << at)) !== 0)
  world.figures.applied++
  open(world, target, (decider) => decider.write({ records: SEATS, deletes, swaps }))
}

/** In a process that accepts requests. */
function open({ deciders, context }: World, target: number, act: (decider: Decider) => void): void {
  const decider = picked(
    deciders.filter(({ isOpen }) => isOpen),
    target,
  )
  if (decider !== undefined) context.timeline.after(0, decider.process, () => act(decider))
}

function ask(world: World, target: number): void {
  const decider = picked(world.deciders, target)
  if (decider !== undefined) world.ask(decider, world.questionOf([record(target)]))
}

function freeze({ context }: World, process: Process | undefined, lasts: number): void {
  process?.freeze()
  context.timeline.after(lasts, null, () => process?.thaw())
}

/** Of two overlapping cuts of one link, the first to end restores it: the same as one shorter cut. */
function cut({ gateways, context }: World, { what, target, lasts }: Of<'cut'>): void {
  const link = picked(gateways, target)?.machine[what]
  link?.cut()
  context.timeline.after(lasts, null, () => link?.restore())
}

function stepWall({ gateways }: World, { target, by }: Of<'set the wall clock'>): void {
  const machine = picked(gateways, target)?.machine
  if (machine !== undefined) machine.wallStep += by
}

function processes({ gateways }: World): Process[] {
  return gateways.flatMap((gateway) => gateway.processes)
}

function workers({ gateways }: World): Process[] {
  return gateways.flatMap(({ primary, processes }) => processes.filter((each) => each !== primary))
}

function record(number: number): StoredRecord {
  const found = picked(RECORDS, number)
  if (found === undefined) throw new Error('no records')
  return found
}

function picked<V>(list: readonly V[], number: number): V | undefined {
  return list[number % list.length]
}

/** Without its time, which the trace adds. */
function describe(action: Action): string {
  const entries = Object.entries(action).filter(([name]) => name !== 'at' && name !== 'kind')
  return `[${[action.kind, ...entries.map((entry) => entry.join(' '))].join(', ')}]`
}
