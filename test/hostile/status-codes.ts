/** Responses of an upstream with given status codes. For `test/proxy/hostile-status-codes*.test.ts`. */

import type { Test } from 'tap'
import type { HostileUpstream } from './hostile-upstream.ts'

export const sized = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 4\r\n\r\nbody`

/** They pass, with their bodies where they have one. */
export async function finalPass(
  t: Test,
  hostile: HostileUpstream,
  statuses: Iterable<number>,
): Promise<void> {
  for (const status of statuses) {
    const { all, rest } = await hostile.play({ packets: sized(`${status} X`) })
    t.same([all.map((each) => each.status), rest], [[status], ''], String(status))
    t.equal(all[0]?.body, status === 204 || status === 304 ? '' : 'body', String(status))
  }
  t.ok(await hostile.nextRequestsWork())
}

/** They precede the response and do not change it. */
export async function interimPass(
  t: Test,
  hostile: HostileUpstream,
  statuses: Iterable<number>,
): Promise<void> {
  for (const status of statuses) {
    const packets = `HTTP/1.1 ${status} X\r\nX-A: a\r\n\r\n${sized('200 OK')}`
    const { all, rest } = await hostile.play({ packets })
    t.match([all, rest], [[{ status: 200, body: 'body' }], ''], String(status))
  }
}
