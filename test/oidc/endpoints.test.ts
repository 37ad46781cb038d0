/** The sign-in endpoints that are declared are those that are served, and those of the manual. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import { SIGN_IN_ENDPOINTS } from '../../src/oidc/sign-in-endpoints.ts'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld } from './world.ts'

t.test('served', async (t) => {
  const world = await freshWorld()
  await (await HostileProvider.start(t)).takes(world)
  t.equal((await world.visitor().begin()).status, 200)
  for (const { method, path, body } of SIGN_IN_ENDPOINTS) {
    const url = world.origin + path.replace('{tenant}', 'acme')
    const browser = world.visitor()
    const page = method === 'POST' ? await browser.postJson(url, {}) : await browser.send(url)
    t.equal(page.status, body?.optional === true ? 200 : 400, path)
    if (method === 'POST') t.equal((await browser.send(url)).json.code, 'method_not_allowed', path)
  }
})

t.test('fields: the declared ones are accepted, and the required ones are asked for', async (t) => {
  const world = await freshWorld()
  for (const { path, body } of SIGN_IN_ENDPOINTS) {
    // A logout token of the provider comes as a form alone, and its refusals are those of another specification.
    if (body?.types?.includes('json') !== true) continue
    const { properties = {}, required = [] } = body.schema
    const pathsOf = async (fields: object) => {
      const { json } = await world.visitor().postJson(world.origin + path, fields)
      return (json.errors ?? []).map((fault: { path: string }) => fault.path)
    }
    t.same(await pathsOf({ other: '1' }), ['/other'], path)
    for (const name of required) {
      const others = Object.fromEntries(required.filter((each) => each !== name).map((each) => [each, 'x']))
      t.same(await pathsOf(others), [`/${name}`])
      t.same(await pathsOf({ ...others, [name]: '' }), [`/${name}`], 'an empty one')
      t.equal(properties[name]?.minLength, 1)
    }
    const values = Object.entries(properties).map(([name, { enum: known }]) => [name, known?.[0] ?? 'x'])
    t.notOk(
      (await pathsOf(Object.fromEntries(values))).some((fault: string) => !required.includes(fault.slice(1))),
      'all are known',
    )
  }
})

t.test('the fields of a form alone: others are ignored, and the required ones are asked for', async (t) => {
  const world = await freshWorld()
  for (const { path, body } of SIGN_IN_ENDPOINTS) {
    if (body?.types?.includes('form') !== true || body.types.includes('json')) continue
    t.same(Object.keys(body.schema.properties ?? {}), ['logout_token'])
    t.same(body.schema.required, ['logout_token'])
    const url = world.origin + path.replace('{tenant}', 'acme')
    const describe = async (form: string) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { status, json } = await world.visitor().send(url, { method: 'POST', headers, body: form })
      t.same([status, json.error], [400, 'invalid_request'], path)
      return json.error_description
    }
    for (const form of ['other=1', 'logout_token=', 'logout_token=a&logout_token=b'])
      t.equal(await describe(form), 'The body must have logout_token once.', form)
    t.not(await describe('logout_token=a'), 'The body must have logout_token once.')
    t.equal(await describe('other=1&logout_token=a'), await describe('logout_token=a'))
  }
})

t.test('the manual names them', async (t) => {
  const text = readFileSync('docs/sign-in.md', 'utf8')
  for (const { method, path } of SIGN_IN_ENDPOINTS) t.match(text, `\`${method} ${path}\``)
})

t.test('JSON that Content-Type calls a form, as curl -d sends it, is named', async (t) => {
  const world = await freshWorld()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = ' {"tenant": "acme"}'
  const { status, json } = await world
    .visitor()
    .send(`${world.origin}/auth/oidc/login`, { method: 'POST', headers, body })
  t.equal(status, 400)
  t.match(json.errors, [{ path: '', message: /send Content-Type: application\/json$/ }])
})
