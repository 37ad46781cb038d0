/** How the cookies of pending sign-ins share their room in a browser. */

import t from 'tap'
import { type CookieRoom, roomForSignIn, signInCookieName } from '../../src/oidc/session/cookies.ts'
import { Random } from '../support/random.ts'
import { newSecret } from '../../src/oidc/session/session-credentials.ts'

const ROOM = 4096
/** Characters of the value, from that of a program's sign-in to that of the longest address. */
const [LEAST, MOST] = [40, 2_800]

class Browser {
  readonly cookies = new Map<string, string>()
  #time = 0

  get line(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** @param onlyFirst of the values for Set-Cookie arrives */
  keep({ name, removed }: CookieRoom, length: number, onlyFirst = false): string {
    const own = name ?? signInCookieName(newSecret())
    this.cookies.set(own, `acme.${(1_700_000_000 + ++this.#time).toString(36)}.`.padEnd(length, 'x'))
    for (const line of onlyFirst ? [] : removed) this.cookies.delete(line.split('=', 1)[0] ?? '')
    return own
  }
}

t.test('one after the other, of any lengths: 4 KiB, and the newest stay', async (t) => {
  const random = new Random(7)
  let largest = 0
  for (let run = 0; run < 100; run++) {
    const browser = new Browser()
    const begun: string[] = []
    for (let at = 0; at < 40; at++) {
      const length = LEAST + random.below(run % 2 === 0 ? MOST - LEAST : 500)
      const name = browser.keep(roomForSignIn([browser.line], length, ROOM), length)
      begun.push(name)
      largest = Math.max(largest, browser.line.length + 2)
      const newest = begun.slice(-browser.cookies.size)
      if (newest.some((each) => !browser.cookies.has(each))) t.fail(`another than the oldest, in run ${run}`)
    }
  }
  t.ok(largest <= ROOM, `${largest} characters`)
})

t.test('at once, so that no request has the cookies of the others', async (t) => {
  for (let length = LEAST; length <= MOST; length += 20) {
    const browser = new Browser()
    const rooms = Array.from({ length: 9 }, () => roomForSignIn([], length, ROOM))
    for (const room of rooms) browser.keep(room, length)
    t.ok(browser.line.length + 2 <= ROOM, `${browser.line.length} for ${length}`)
    if (length < 400) t.equal(browser.cookies.size, 9, 'small ones have a name each')
  }
})

t.test('through a proxy that passes on one Set-Cookie, of one length: 4 KiB', async (t) => {
  for (const length of [LEAST, 200, 400, 600, 1_150, MOST]) {
    const browser = new Browser()
    for (let at = 0; at < 60; at++) browser.keep(roomForSignIn([browser.line], length, ROOM), length, true)
    t.ok(browser.line.length + 2 <= ROOM, `${browser.line.length} for ${length}`)
  }
})

t.test('cookies of an earlier version are removed, whatever their names', async (t) => {
  const line = Array.from(
    { length: 9 },
    (_, at) => `__Host-seatgate_signin_${at}=acme.1.${'x'.repeat(1_200)}`,
  )
  const { name, removed } = roomForSignIn([line.join('; ')], 1_200, ROOM)
  t.match(name, /^__Host-seatgate_signin_[\w-]{12}$/)
  t.equal(removed.length, 7)
})
