/** The configurations for other proxies fit the defaults of the gateway, on one machine. */

import t from 'tap'
import { gatewayFile } from '../../src/config/main-file.ts'
import { blocksOf, placeOf } from './pages.ts'

const settings = gatewayFile.schema.properties ?? {}
const portOf = (address: unknown) => String(address).split(':').at(-1)
const listen = portOf(settings['listen']?.default)
const ops = portOf(settings['ops']?.default)
const DECISION = '9191'

/** What a proxy binds. */
const BOUND = /(?:^\s*(?:listen|bind(?: [\d.]+)?:?) ?:?|^:|address: 0\.0\.0\.0, port_value: )(\d+)/gm

const recipes = blocksOf('docs/beside-other-proxies.md').filter(({ text }) => text.includes('3000'))

t.test('no proxy binds a port of the gateway, or asks at that of the operators', async (t) => {
  t.equal(recipes.length, 5)
  for (const recipe of recipes) {
    const bound = [...recipe.text.matchAll(BOUND)].map(([, port = '']) => port)
    for (const port of [listen, ops, DECISION]) t.notOk(bound.includes(String(port)), placeOf(recipe))
    t.notMatch(recipe.text, new RegExp(`:${ops}\\b`), placeOf(recipe))
  }
  const all = recipes.flatMap(({ text }) => [...text.matchAll(BOUND)])
  t.equal(all.length, 5, 'nginx, Caddy, Envoy, and HAProxy twice')
})

t.test('sign-in is at the default of `listen`', async (t) => {
  const signIn = recipes.filter(({ text }) => text.includes('/auth/oidc/'))
  t.equal(signIn.length, 3)
  for (const recipe of signIn) t.match(recipe.text, `127.0.0.1:${listen}`, placeOf(recipe))
})
