/** A check that checked nothing ends with 1 and says so: a pipeline that runs it is no proof otherwise. */

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const HEAD = `tenant: acme\nseats:\n  Viewer: { spaces: [main], permissions: [trainings:list] }\n`
const CASE = `cases:\n  - { request: GET /v1/me, seats: [Viewer], expect: allow }\n`

t.test('test', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const run = (text: string) => {
    writeFileSync(join(cwd, 'policy.yaml'), text)
    return seatgateHere(cwd, ['test', 'policy.yaml'])
  }
  t.match(await run(HEAD + CASE), { code: 0, out: '1 passed, 0 failed\n' })
  const faults: Record<string, [text: string, err: string]> = {
    'no case, no assertion': [HEAD, '1:1: the file has no case and no assertion: it checks nothing'],
    'empty lists': [`${HEAD}cases: []\nassert: []\n`, '1:1: the file has no case and no assertion'],
    'an unknown tenant': [
      (HEAD + CASE).replace('acme', 'acne'),
      `1:9: gateway.config.yaml has no tenant "acne" (it has acme)`,
    ],
    'a Seat of a case': [
      HEAD + CASE.replace('[Viewer]', '[Viewr]'),
      '5:5: there is no Seat "Viewr" (did you mean "Viewer"?)',
    ],
    'a Seat of an assertion': [
      `${HEAD}assert:\n  - { only: [Editors], may: GET /v1/trainings }\n`,
      '5:5: there is no Seat "Editors"',
    ],
    'requests that no entry answers': [
      `${HEAD}assert:\n  - { only: [Viewer], may: GET /v1/training }\n`,
      '5:5: "GET /v1/training": no entry of the route tables answers such a request',
    ],
    'a method that no entry answers': [
      `${HEAD}assert:\n  - { only: [Viewer], may: DELETE /v1/trainings }\n`,
      '5:5: "DELETE /v1/trainings": no entry',
    ],
    'a public pattern that no entry answers': [
      `${HEAD}assert:\n  - public: [GET /docs/*, GET /doc/*]\n`,
      '5:5: "GET /doc/*": no entry',
    ],
  }
  for (const [name, [text, err]] of Object.entries(faults)) {
    const ran = await run(text)
    t.equal(ran.code, 1, name)
    t.ok(ran.err.includes(`policy.yaml:${err}`), name, { err: ran.err })
  }
  t.match(await run(`${HEAD}assert:\n  - public: [GET /docs/*]\n`), { code: 0 })
})

t.test('replay', async (t) => {
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/trainings.yaml': ROUTES,
    'seats.yaml': `tenant: acme\nseats: {}\n`,
    'access.log': '',
  })
  const run = () => seatgateHere(cwd, ['replay', 'access.log', '--seats', 'seats.yaml'])
  t.match(await run(), { code: 1, err: /there is no request in the logs: nothing was checked/ })
  appendFileSync(join(cwd, 'access.log'), '\n\nno JSON\n')
  t.match(await run(), { code: 1, out: /1/, err: /no line could be judged: nothing was checked/ })
})
