/**
 * Several instances of a simulated fleet, in a process of their own, which ends with its parent (`fleet.ts`).
 */

import { Channel } from '../../src/runtime/workers/channel.ts'
import { type Places, SimulatedInstance, type Target } from './simulated-instance.ts'

const channel = new Channel({
  send: (message) => void process.send?.(message),
  onMessage: (receive) => process.on('message', receive),
})

const instances: SimulatedInstance[] = []

/** Instances start in sequence, because contention at the store is not measured here. */
channel.serve('begin', async (argument) => {
  const { places, count } = argument as { places: Places; count: number }
  while (instances.length < count) instances.push(await SimulatedInstance.start(places))
})

channel.serve('write', (argument) => {
  const { index, target, permissions } = argument as { index: number; target: Target; permissions: string[] }
  const instance = instances[index]
  if (instance === undefined) throw new Error(`no instance ${index}`)
  return instance.write(target, permissions)
})

channel.serve('stale', (seq) => instances.filter((each) => each.isStale(seq as number)).length)
channel.serve('sent', () => instances.reduce((sum, { messages }) => sum + messages.sent, 0))
channel.serve('received', () => instances.reduce((sum, { messages }) => sum + messages.received, 0))

channel.serve('end', () => Promise.all(instances.map((each) => each.close())).then(() => {}))

process.on('disconnect', () => process.exit())
