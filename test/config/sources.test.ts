/** Where settings are written, and of which variables they are made. */

import t from 'tap'
import { BASE, configOf } from './support.ts'

t.test('place, variables and defaults', async (t) => {
  const text = `${BASE}store: postgres://\${USER}:\${PW:-hush}@db/x
redis: \${REDIS}
ops: 127.0.0.1:0
limits:
  connections: 10
`
  const { sources } = await configOf(t, text, { USER: 'anna', REDIS: 'redis://127.0.0.1' })
  t.match(sources, {
    listen: { key: 'listen', place: { line: 1, column: 1 }, isDefault: true, variables: [] },
    ops: { key: 'ops', place: { line: 5, column: 6 }, isDefault: false, variables: [], isVariable: false },
    store: { place: { line: 3, column: 8 }, variables: ['USER', 'PW'], isVariable: false },
    redis: { place: { line: 4, column: 8 }, variables: ['REDIS'], isVariable: true },
    connections: { key: 'limits.connections', place: { line: 7, column: 16 } },
  })
  t.notMatch(JSON.stringify(sources), /anna|hush|postgres/, 'no value is kept')
})

t.test('an escaped variable is none', async (t) => {
  const { sources } = await configOf(t, `${BASE}store: 'sqlite:$\${A}/\${B}'\n`, { B: 'b' })
  t.same(sources.store.variables, ['B'])
})
