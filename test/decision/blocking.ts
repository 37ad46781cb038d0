/** A gateway whose administrator blocks users, for the tests of blocked callers. */

import type { Test } from 'tap'
import { startWorld } from '../support/world.ts'

export async function startBlocking(t: Test) {
  const world = await startWorld(t, {
    routes: ['GET /list: trainings:list', 'GET /me: authenticated', 'GET /open: public'],
  })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  return {
    world,
    async bearer(sub: string, more: { now?: number; tenant?: string } = {}) {
      const token = await world.token(['s1:Viewer'], { sub, ...more })
      return { authorization: `Bearer ${token}`, space: 's1' }
    },
    /** `allow`, or status and code of the refusal. */
    async ask(path: string, headers: Record<string, string>): Promise<string> {
      const answer = await world.client.send('GET', path, headers)
      return answer.status < 300 ? 'allow' : `${answer.status} ${answer.json.code}`
    },
    async block(user: string, more: Record<string, unknown> = {}): Promise<string> {
      const answer = await world.admin('POST', '/v1/blocks', { user, ...more })
      if (answer.status !== 200) throw new Error(answer.body)
      return answer.json.id
    },
    async blockedUsers(): Promise<string[]> {
      const answer = await world.admin('GET', '/v1/blocks?limit=100')
      if (answer.status !== 200) throw new Error(answer.body)
      return answer.json.data.map(({ user }: { user: string }) => user)
    },
  }
}
