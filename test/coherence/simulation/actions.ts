/** Does what a schedule says, to whoever is there then. */

import type { Process } from './process.ts'
import type { Action } from './schedule.ts'
import { type Thing, THINGS } from './things.ts'
import { questionOf, type World } from './world.ts'

export function perform(world: World, action: Action): void {
  world.nature.trace?.(describe(action))
  switch (action.kind) {
    case 'write':
      return write(world, action)
    case 'write from outside':
      return world.writeFromOutside(thing(action.thing))
    case 'ask':
      return ask(world, action.who)
    case 'freeze':
      return freeze(world, picked(processes(world), action.who), action.lasts)
    case 'kill':
      return picked(processes(world), action.who)?.end()
    case 'kill a worker':
      return picked(workers(world), action.who)?.end()
    case 'leave':
      return picked(world.gateways, action.who)?.leave()
    case 'begin':
      return world.begin(action.workers)
    case 'cut':
      return cut(world, action)
    case 'set the wall clock':
      return setWall(world, action)
    default:
      return disturbRedis(world, action.kind)
  }
}

type Of<K extends Action['kind']> = Extract<Action, { readonly kind: K }>

function write(world: World, { who, thing: number, deletes, further }: Of<'write'>): void {
  const decider = picked(
    world.deciders.filter(({ isOpen }) => isOpen),
    who,
  )
  if (decider === undefined) return
  world.nature.timeline.after(0, decider.process, () => decider.write(thing(number), deletes, further))
}

function ask(world: World, who: number): void {
  const decider = picked(world.deciders, who)
  if (decider !== undefined) world.ask(decider, questionOf(world.nature.random, thing(who)))
}

function freeze({ nature }: World, process: Process | undefined, lasts: number): void {
  process?.freeze()
  nature.timeline.after(lasts, null, () => process?.thaw())
}

/** Of two cuts of one link that overlap, the first to end mends it: as good as a shorter one. */
function cut({ gateways, nature }: World, { what, who, lasts }: Of<'cut'>): void {
  const link = picked(gateways, who)?.machine[what]
  link?.cut()
  nature.timeline.after(lasts, null, () => link?.mend())
}

function setWall({ gateways }: World, { who, by }: Of<'set the wall clock'>): void {
  const machine = picked(gateways, who)?.machine
  if (machine !== undefined) machine.wallStep += by
}

function disturbRedis({ redis }: World, how: 'copy Redis' | 'empty Redis' | 'set Redis back'): void {
  if (how === 'copy Redis') redis.copy()
  else if (how === 'empty Redis') redis.wipe()
  else redis.goBack()
}

function processes({ gateways }: World): Process[] {
  return gateways.flatMap((gateway) => gateway.processes)
}

function workers({ gateways }: World): Process[] {
  return gateways.flatMap(({ primary, processes }) => processes.filter((each) => each !== primary))
}

function thing(number: number): Thing {
  const found = picked(THINGS, number)
  if (found === undefined) throw new Error('there are no things')
  return found
}

function picked<V>(list: readonly V[], number: number): V | undefined {
  return list[number % list.length]
}

/** Without its time, which is written beside it. */
function describe(action: Action): string {
  const entries = Object.entries(action).filter(([name]) => name !== 'at' && name !== 'kind')
  return `[${[action.kind, ...entries.map((entry) => entry.join(' '))].join(', ')}]`
}
