/** The line of a refused request at a sign-in endpoint says whose it was, where a signature or key was right. */

import t from 'tap'
import { idTokenOf } from '../sign-in/id-token.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import type { Page } from '../sign-in/visitor.ts'
import { startSignIn } from '../sign-in/world.ts'
import { until } from '../support/until.ts'

const DAY = 24 * 3_600_000

const clock = moveClock(t)
const world = await startSignIn(t)
world.user('mallory', {})
world.user('alice', {})

/** It is written behind the response. */
async function lineOf({ headers }: Page): Promise<Record<string, unknown>> {
  const id = headers['x-request-id']
  const find = () =>
    world.gateway.log().find((line) => line['request_id'] === id && line['msg'] === 'request')
  await until(() => find() !== undefined, 'the line of the request')
  return find() ?? {}
}

t.test('a blocked user who signs in, with a program and with a browser', async (t) => {
  const { json: block } = await world.gateway.admin('POST', '/v1/blocks', { user: 'mallory' })
  const wanted = {
    code: 'caller_blocked',
    tenant: 'acme',
    user: 'mallory',
    detail: 'An administrator or the identity provider has blocked this user.',
  }
  t.match(await lineOf(await world.visitor('mallory').signIn()), wanted)
  const page = await world.visitor('mallory').page('/pages/a')
  t.match(page.headers, { 'content-type': /^text\/html/ })
  t.match(await lineOf(page), wanted)
  await world.gateway.admin('DELETE', `/v1/blocks/${block.id}`)
})

t.test('a refresh token that is used again', async (t) => {
  const visitor = world.visitor('alice')
  const { refresh_token: handle } = (await visitor.signIn()).json
  t.equal((await visitor.refresh(handle)).status, 200)
  t.match(await lineOf(await visitor.refresh(handle)), {
    code: 'token_invalid',
    tenant: 'acme',
    user: 'alice',
  })
})

t.test('an ID token that proves nothing names no user', async (t) => {
  const token = await idTokenOf(world.visitor('alice'), world.acme)
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(86)}`
  for (const text of [forged, 'x']) {
    const line = await lineOf(await world.visitor('alice').validate(text))
    t.match(line, { code: 'token_invalid' })
    t.notOk('tenant' in line || 'user' in line)
  }
})

t.test('an expired ID token', async (t) => {
  const token = await idTokenOf(world.visitor('alice'), world.acme)
  clock.pass(30 * DAY)
  t.match(await lineOf(await world.visitor('alice').validate(token)), {
    code: 'token_expired',
    tenant: 'acme',
    user: 'alice',
    detail: 'The ID token has expired.',
  })
})
