/** Sign-in behind every proxy that can send a browser there. */

import t from 'tap'
import { NAVIGATION } from '../sign-in/visitor.ts'
import type { startBesideSignIn } from './beside.ts'

export function signInCases({ world, seen }: Awaited<ReturnType<typeof startBesideSignIn>>): void {
  world.user('alice')
  const page = `${world.origin}/pages/a?b=%2f`

  t.test('a browser is redirected, signs in, and gets the page that it wanted', async (t) => {
    const visitor = world.visitor()
    const first = await visitor.send(page, { headers: NAVIGATION })
    t.equal(first.status, 303)
    t.equal(first.headers.location?.split('?')[0], `${world.acme.issuer}/auth`)
    const last = await visitor.onward(first)
    t.match(last, { status: 200, url: page, body: 'from the service' })
    const fields = seen.at(-1)?.headersDistinct ?? {}
    t.strictSame(fields['x-seatgate-auth'], ['session'])
    t.match(fields['x-seatgate-user'], [/./])
    t.notMatch(fields['cookie']?.join() ?? '', '__Host-seatgate_session')

    t.equal((await visitor.logout()).status, 200)
    t.equal((await visitor.send(page, { headers: NAVIGATION })).status, 303, 'after the end of the session')
  })

  t.test('many tabs with long addresses take 4 KiB of cookies, and the last one signs in', async (t) => {
    const visitor = world.visitor()
    const addressOf = (tab: number) => `${world.origin}/pages/${'a'.repeat(800)}?tab=${tab}`
    for (let tab = 0; tab < 9; tab++) {
      await visitor.send(addressOf(tab), { headers: NAVIGATION })
      const cookies = [...visitor.cookies(world.origin)].map((pair) => pair.join('=')).join('; ')
      t.ok(cookies.length <= 4096, `${cookies.length} after ${tab + 1} tabs`)
    }
    const last = await visitor.onward(await visitor.send(addressOf(9), { headers: NAVIGATION }))
    t.match(last, { status: 200, url: addressOf(9) })
    t.equal(seen.at(-1)?.headers.cookie ?? '', '', 'the service gets none of them')
  })

  t.test('a program gets the 401, with its document', async (t) => {
    const answer = await world.visitor().send(page)
    t.equal(answer.status, 401)
    t.equal(answer.json.code, 'credentials_missing')
    t.notOk('location' in answer.headers)
  })

  t.test('a forged Location or cookie leads nowhere', async (t) => {
    const before = seen.length
    const headers = {
      location: 'https://evil.example/',
      'set-cookie': 'a=b',
      cookie: '__Host-seatgate_session=forged',
    }
    const program = await world.visitor().send(page, { headers })
    t.equal(program.status, 401)
    t.notOk('location' in program.headers)
    const browser = await world.visitor().send(page, { headers: { ...headers, ...NAVIGATION } })
    t.equal(browser.status, 303)
    t.equal(browser.headers.location?.split('?')[0], `${world.acme.issuer}/auth`)
    t.notMatch(browser.headers['set-cookie']?.join() ?? '', /a=b/)
    t.equal(seen.length, before)
  })

  t.test('nor does a forged address of the client count there', async (t) => {
    const forged = { 'x-forwarded-for': '192.0.2.66', forwarded: 'for=192.0.2.66' }
    for (const headers of [forged, { forwarded: forged.forwarded }]) {
      const { headers: answer } = await world.visitor().send(`${world.origin}/auth/oidc/me`, { headers })
      const line = world.gateway.log().find((each) => each['request_id'] === answer['x-request-id'])
      t.match(line, { path: '/auth/oidc/me', client: '127.0.0.1' })
    }
  })

  t.test('the place of sign-in has nothing else', async (t) => {
    const before = seen.length
    for (const path of [
      '/auth/oidc/nothing',
      '/auth/oidc/%2e%2e/%2e%2e/pages/a',
      '/auth/oidc/..%2f..%2fpages/a',
    ]) {
      const { status } = await world.visitor().send(world.origin + path)
      t.ok(status === 400 || status === 404 || status === 401, `${path}: ${status}`)
    }
    t.equal(seen.length, before)
  })
}
