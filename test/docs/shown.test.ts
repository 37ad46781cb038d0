/** Headers, log fields, parts of readiness and endpoints: the manual lists those that a gateway has. */

import t from 'tap'
import { folderWith } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { startWorld } from '../support/world.ts'
import { filesOf } from './configuration.ts'
import { textOf } from './pages.ts'

const world = await startWorld(t, {
  routes: ['GET /v1/trainings: trainings:list', 'GET /v1/me: authenticated', 'GET /docs/*: public'],
})
await world.seat('Viewer', ['main'], ['trainings:list'])
const authorization = `Bearer ${await world.token(['main:Viewer'])}`
const get = async (path: string) => {
  await world.client.send('GET', path, { authorization, space: 'main' })
  const { headers } = world.upstream.seen.at(-1) ?? { headers: {} }
  return Object.keys(headers).filter((name) => name.startsWith('x-seatgate-'))
}
const section = (page: string, heading: string) =>
  textOf(page).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

t.test('identity headers', async (t) => {
  const table = section('docs/routes.md', 'What the upstream receives').match(/^\| `x-seatgate-.*$/gm) ?? []
  const listed = table.map((row) => /`(.*?)`/.exec(row)?.[1] ?? '')
  t.same((await get('/v1/trainings')).sort(), [...listed].sort())
  t.same((await get('/v1/me')).sort(), listed.slice(0, -4).sort(), 'authenticated: without the last four')
  t.same(await get('/docs/a'), [], 'public: none')
})

t.test('fields of a line in the log', async (t) => {
  const text = section('docs/operations.md', 'Log')
  const line = world.log().findLast(({ path }) => path === '/v1/trainings') ?? {}
  const names = Object.keys(line).filter((name) => !['level', 'time', 'msg'].includes(name))
  t.ok(names.length > 10, `${names}`)
  for (const name of names) t.match(text, `\`${name}\``, name)
})

t.test('parts of /readyz', async (t) => {
  const text = section('docs/operations.md', 'Health and metrics')
  const parts: unknown = await (await fetch(`${world.ops}/readyz`)).json()
  for (const name of Object.keys(parts ?? {})) t.match(text, `\`${name}\``, name)
})

t.test('endpoints of the gateway itself', async (t) => {
  const { out } = await seatgateHere(folderWith(t, filesOf('listen: 127.0.0.1:0\n')), ['routes', '--json'])
  const routes: { method: string; path: string; permission: string; line: number }[] = JSON.parse(out)
  const builtIn = routes.filter(({ line }) => line === 0)
  t.ok(builtIn.length > 10, `${builtIn.length} endpoints`)
  for (const { method, path, permission } of builtIn) {
    if (path.startsWith('/.well-known/')) {
      t.match(textOf('docs/signed-identity.md'), `\`${method} ${path}\``)
      continue
    }
    const text = textOf(path.startsWith('/auth/') ? 'docs/sign-in.md' : 'docs/seats-api.md')
    const row = text.match(/^\| .*$/gm)?.find((each) => each.includes(`\`${method} ${path}\``)) ?? ''
    t.ok(row !== '', `${method} ${path}`)
    if (permission !== 'public') t.match(row, `\`${permission}\``, `${method} ${path}`)
  }
})
