/** Seats that change while workers decide by them. */

import type { Test } from 'tap'
import { Client } from '../../support/client.ts'
import { served } from '../../support/served.ts'
import { startWithWorkers } from './support.ts'

/**
 * A Seat gains and loses a permission by turns. After each acknowledged change every worker is asked.
 *
 * @returns how many answers are of the state before
 */
export async function staleDecisions(
  t: Test,
  { workers, rounds }: { readonly workers: number; readonly rounds: number },
): Promise<number> {
  const world = await startWithWorkers(t, workers)
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  // Connections alternate between workers, so three times as many reach every worker.
  const clients = Array.from({ length: 3 * workers }, () => new Client(world.port))
  let stale = 0
  for (let round = 0; round < rounds; round++) {
    const grant = round % 2 === 1
    const permissions = [grant ? 'trainings:list' : 'trainings:read']
    const written = await served(() => world.admin('PUT', `/v1/seats/${id}`, { permissions }))
    if (written.status !== 200) throw new Error(`${written.status} ${written.body}`)
    const ask = (client: Client) => served(() => client.send('GET', '/v1/trainings', headers))
    const answers = await Promise.all(clients.map(ask))
    stale += answers.filter(({ status }) => status !== (grant ? 200 : 403)).length
  }
  for (const client of clients) client.close()
  return stale
}
