/** One gateway for each Redis mode, each with its own hostile Redis. Used by the fuzz and its test. */

import type { Test } from 'tap'
import { type Fleet, startFleet } from '../../fleet/fleet.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'
import { HostileRedis, type ReplaceReply } from './hostile-redis.ts'

const URLS = [
  (port: number) => `redis://127.0.0.1:${port}`,
  (port: number) => `rediss://127.0.0.1:${port}?ca=${CERTIFICATES.files.ca}`,
  (port: number) => `redis+sentinel://127.0.0.1:${port}/main`,
  (port: number) => `redis+cluster://127.0.0.1:${port}`,
]

export interface Modes {
  readonly fleet: Fleet
  /** One for each gateway of the fleet. */
  readonly servers: readonly HostileRedis[]
}

/** @param replaceReply replaces replies from the first command on */
export async function startModes(t: Test, replaceReply: ReplaceReply): Promise<Modes> {
  const servers = await Promise.all(URLS.map((url) => HostileRedis.start(t, url(0).startsWith('rediss:'))))
  for (const server of servers) server.replaceReply = replaceReply
  const urls = servers.map(({ port }, at) => URLS[at]?.(port) ?? '')
  const fleet = await startFleet(t, { gateways: urls.length, redis: { urls }, proxies: [] })
  const viewer = { name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }
  await fleet.admin(fleet.first, 'POST', '/v1/seats', viewer)
  return { fleet, servers }
}
