/** Registries of instances on real servers. */

import type { Test } from 'tap'
import type { Registry } from '../../../../seats-admin/index.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { emptyDatabase, open } from './support.ts'

export async function registryOf(t: Test, url: string): Promise<Registry> {
  const { registry } = await open(t, { url })
  if (registry === null) throw new Error('no registry')
  return registry
}

/** Sends beats until one succeeds, and returns it; those before are lost. */
export async function nextBeat(registry: Registry, id: string, beat: number): Promise<number> {
  let sent = beat
  await until(async () => {
    sent++
    return registry.follow(id, sent, null, 0).then(
      ({ registered }) => registered,
      () => false,
    )
  }, 'a beat that succeeds')
  return sent
}

/** After a crash of the server, each registration before it is there, and beats go on. */
export async function crashes(t: Test, server: PostgresServer, rounds: number): Promise<void> {
  const registry = await registryOf(t, await emptyDatabase(server))
  for (let round = 0; round < rounds; round++) {
    await registry.register(`late ${round}`, 'x')
    await server.kill()
    await server.restart()
    await until(
      async () => (await registry.instances().catch(() => [])).length === round + 1,
      'all registrations',
    )
    t.ok((await nextBeat(registry, `late ${round}`, 0)) > 0)
  }
}
