/**
 * CSRF: while an administrator is signed in by session cookie, a page of another origin tries every change. It is on the same site
 * (another port of localhost), where SameSite=Lax still sends the cookie: the origin alone tells the two apart.
 */

import { createServer } from 'node:http'
import type { Response } from 'playwright-core'
import t from 'tap'
import { builtInOperations } from '../../src/composition.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/until.ts'
import { startConsole } from './console.ts'

const console = await startConsole(t)
const { world, context } = console
const { gateway } = world
const seat = await gateway.seat('Administrators', ['admin'], ['*'])
const key = await console.keyOf('nightly export', ['Administrators'])
world.user('carol', { memberOf: ['Administrators'], email: 'carol@acme.example', email_verified: true })
const own = await console.page('seats')
await console.signInAtProvider(own, 'carol')

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end('<title>Win a prize</title><iframe name="sink"></iframe>')
})
const EVIL = `http://localhost:${await listen(t, server)}`
const hostile = await context.newPage()
await hostile.goto(EVIL)

const BODY = JSON.stringify({
  ...{ name: 'Evil', spaces: ['admin'], permissions: ['*'], seats: ['Administrators'], user: 'carol' },
  ...{ method: 'GET', path: '/', tenant: 'acme' },
})

const changing = builtInOperations().filter(
  ({ method, requirement }) => !['GET', 'HEAD'].includes(method) && requirement !== 'public',
)
const urlOf = (path: string) =>
  world.origin + path.replaceAll(/\{[^}]+\}/g, path.startsWith('/v1/api-keys') ? key.id : seat)

/** Everything that a change could have changed. */
async function state(): Promise<string> {
  const lists = ['/v1/seats', '/v1/api-keys', '/v1/blocks', '/v1/sessions?user=carol', '/v1/audit']
  const answers = await Promise.all(lists.map((path) => gateway.admin('GET', path)))
  // When a key was last used is no change.
  return answers.map(({ body }) => body.replaceAll(/,"last_used_at":"[^"]+"/g, '')).join('\n')
}

const before = await state()

t.test('the attack would work: the cookie goes along, and the own page may change things', async (t) => {
  await hostile.evaluate(`fetch('${world.origin}/v1/me', { mode: 'no-cors', credentials: 'include' })`)
  const arrived = gateway.upstream.seen.find(({ url }) => url === '/v1/me')
  t.equal(arrived?.headers['x-seatgate-user'], 'carol', 'the service takes the request for hers')
  const plan = `fetch('/v1/seats/plan', { method: 'POST', body: '{"seats":{}}',
    headers: { space: 'admin', 'content-type': 'application/json' } }).then(({ status }) => status)`
  t.equal(await own.evaluate<number>(plan), 200)
})

t.test('each change by fetch: 403, with and without a preflight', async (t) => {
  t.ok(changing.length > 8, `${changing.length} changes`)
  for (const { method, path } of changing) {
    const answers: Response[] = []
    const keep = (response: Response) => {
      if (response.url().startsWith(world.origin)) answers.push(response)
    }
    hostile.on('response', keep)
    // Simple requests are sent at once; browsers ask before they send the others.
    const tried = await hostile.evaluate<string[]>(`Promise.all([
      { mode: 'no-cors', headers: { 'content-type': 'text/plain' } },
      { mode: 'cors', headers: { 'content-type': 'text/plain' } },
      { mode: 'cors', headers: { 'content-type': 'application/json', space: 'admin' } },
    ].map((init) => fetch(${JSON.stringify(urlOf(path))}, {
      method: ${JSON.stringify(method)}, credentials: 'include', body: ${JSON.stringify(BODY)}, ...init,
    }).then(({ type }) => type, () => 'refused')))`)
    hostile.off('response', keep)
    t.ok(
      tried.every((each) => each === 'opaque' || each === 'refused'),
      `${method} ${path}: the page reads nothing (${tried.join()})`,
    )
    t.ok(
      answers.every((answer) => answer.status() === 403),
      `${method} ${path}: ${answers.map((answer) => answer.status()).join()}`,
    )
    if (method === 'POST') t.ok(answers.length > 0, `POST ${path} was sent`)
  }
})

t.test('each POST by a form', async (t) => {
  for (const { path } of changing.filter(({ method }) => method === 'POST'))
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const [answer] = await Promise.all([
        hostile.waitForResponse((response) => response.url() === urlOf(path)),
        hostile.evaluate(`(() => {
          const form = document.createElement('form')
          Object.assign(form, { method: 'post', action: ${JSON.stringify(urlOf(path))}, enctype: '${type}', target: 'sink' })
          const input = document.createElement('input')
          // As text/plain this is JSON.
          Object.assign(input, { name: ${JSON.stringify(BODY.replace(/\}$/, ',"x":"'))}, value: '"}' })
          form.append(input)
          document.body.append(form)
          form.submit()
          form.remove()
        })()`),
      ])
      t.equal(answer.status(), 403, `${path} ${type}`)
    }
})

t.test('it reads nothing, and puts the console into no frame', async (t) => {
  for (const path of ['/v1/seats', '/v1/api-keys', '/auth/oidc/me', '/_seatgate/console/']) {
    const read = `fetch('${world.origin}${path}', { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')`
    t.equal(await hostile.evaluate<string>(read), 'refused', path)
  }
  const framed = await hostile.evaluate<string>(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.onload = () => {
      try { resolve(frame.contentDocument === null ? 'refused' : 'empty') } catch { resolve('refused') }
    }
    frame.src = '${console.url()}'
    document.body.append(frame)
  })`)
  t.equal(framed, 'refused')
  const frames = hostile.frames().map((frame) => frame.url())
  t.notOk(
    frames.some((url) => url.startsWith(console.url())),
    frames.join(),
  )
})

t.test('it opens the console, and has no handle of its window', async (t) => {
  const [opened] = await Promise.all([
    context.waitForEvent('page'),
    hostile.evaluate(`void (globalThis.opened = open('${console.url('seats')}'))`),
  ])
  await opened.waitForURL(console.url('seats'))
  await until(() => hostile.evaluate<boolean>('globalThis.opened.closed'), 'the handle is that of no window')
  t.equal(await opened.evaluate<boolean>('opener === null'), true)
  await hostile.evaluate(`globalThis.opened.location = '${EVIL}'`).catch(() => null)
  t.equal(opened.url(), console.url('seats'), 'it can lead the window nowhere else')
  await opened.close()
})

t.test('nothing has changed, and the administrator is still signed in', async (t) => {
  t.equal(await state(), before)
  await own.reload()
  await own.getByRole('link', { name: 'Administrators' }).waitFor()
  t.same(console.faults, [])
})
