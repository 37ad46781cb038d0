/** `POST /access/v1/evaluations`: semantics, defaults, faulty items, bounds. Wrong input of every member. */

import t from 'tap'
import { MAX_EVALUATIONS } from '../../../src/external-authorization/authzen/evaluations.ts'
import { onRoute, startPep } from './support.ts'

const { world, ask } = await startPep(t)
await world.seat('Viewer', ['main'], ['trainings:list', 'trainings:read'])
const yes = onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main')
const no = onRoute('seat:Viewer', 'POST', '/v1/trainings', 'main')
const fault = { ...yes, subject: 'Viewer' }

const all = async (body: unknown) => {
  const { status, json } = await ask('/access/v1/evaluations', body)
  return status === 200 ? json.evaluations.map(({ decision }: { decision: boolean }) => decision) : status
}

t.test('semantics: short-circuit answers end with the item that decides', async (t) => {
  for (const [semantic, items, expected] of [
    ['execute_all', [yes, no, yes, fault], [true, false, true, false]],
    ['deny_on_first_deny', [yes, yes, no, yes], [true, true, false]],
    ['deny_on_first_deny', [yes, fault, yes], [true, false]],
    ['deny_on_first_deny', [yes, yes], [true, true]],
    ['permit_on_first_permit', [no, fault, yes, no], [false, false, true]],
    ['permit_on_first_permit', [no, no], [false, false]],
  ] as const)
    t.same(await all({ evaluations: items, options: { evaluations_semantic: semantic } }), expected, semantic)
  t.same(
    await all({ evaluations: [no, yes], options: { other: 1 } }),
    [false, true],
    'execute_all by default',
  )
})

t.test('members of an item replace those of the request as a whole', async (t) => {
  const resource = { ...yes.resource, properties: { space: 'main' } }
  const defaults = { subject: yes.subject, action: yes.action, resource }
  t.same(await all({ ...defaults, evaluations: [{}, { resource: yes.resource }] }), [true, false], 'space')
  const inner = { ...yes, context: { space: 'other' } }
  t.same(await all({ ...defaults, context: {}, evaluations: [inner, yes] }), [false, true])
  const { json } = await ask('/access/v1/evaluations', {
    ...defaults,
    evaluations: [
      { subject: { type: 'seat' } },
      { subject: undefined, action: null },
      'x',
      null,
      [],
      { context: 1 },
    ],
  })
  t.same(
    json.evaluations.map((each: { context: { error: { message: string } } }) => each.context.error.message),
    [
      '/subject/id is required.',
      '/action must be an object.',
      'The item must be an object.',
      'The item must be an object.',
      'The item must be an object.',
      '/context must be an object.',
    ],
  )
})

t.test('faults of the whole request', async (t) => {
  for (const [more, path] of [
    [{ evaluations: {} }, '/evaluations'],
    [{ evaluations: null }, '/evaluations'],
    [{ options: 1 }, '/options'],
    [{ options: { evaluations_semantic: 'all' } }, '/options/evaluations_semantic'],
    [{ options: { evaluations_semantic: null } }, '/options/evaluations_semantic'],
    [{ options: { evaluations_semantic: 'toString' } }, '/options/evaluations_semantic'],
    [{ subject: 'x' }, '/subject'],
    [{ action: {} }, '/action/name'],
    [{ resource: null }, '/resource'],
    [{ context: [] }, '/context'],
    [{ context: { space: 7 } }, '/context/space'],
    [{ evaluations: Array.from({ length: MAX_EVALUATIONS + 1 }, () => ({})) }, '/evaluations'],
  ] as const) {
    const answer = await ask('/access/v1/evaluations', { evaluations: [yes], ...more })
    t.match(answer, { status: 400, json: { code: 'input_invalid', errors: [{ path }] } }, path)
  }
  const most = Array.from({ length: MAX_EVALUATIONS }, () => yes)
  t.equal((await all({ evaluations: most })).length, MAX_EVALUATIONS, 'as many as may be')
})

t.test('wrong input of every member of an evaluation', async (t) => {
  const { subject, action, resource } = yes
  for (const [more, path] of [
    [{ subject: undefined }, '/subject'],
    [{ subject: null }, '/subject'],
    [{ subject: [] }, '/subject'],
    [{ subject: { ...subject, type: 1 } }, '/subject/type'],
    [{ subject: { ...subject, id: null } }, '/subject/id'],
    [{ subject: { ...subject, id: ['Viewer'] } }, '/subject/id'],
    [{ subject: { ...subject, properties: [] } }, '/subject/properties'],
    [{ action: undefined }, '/action'],
    [{ action: 'GET' }, '/action'],
    [{ action: { name: {} } }, '/action/name'],
    [{ action: { ...action, properties: 'x' } }, '/action/properties'],
    [{ resource: undefined }, '/resource'],
    [{ resource: true }, '/resource'],
    [{ resource: { ...resource, type: {} } }, '/resource/type'],
    [{ resource: { ...resource, id: 0 } }, '/resource/id'],
    [{ resource: { ...resource, properties: null } }, '/resource/properties'],
    [{ resource: { ...resource, properties: { space: {} } } }, '/resource/properties/space'],
    [{ context: null }, '/context'],
    [{ context: 'main' }, '/context'],
    [{ context: { space: null } }, '/context/space'],
    [{ context: { space: '' } }, '/context/space'],
    [{ context: { space: 'a:b' } }, '/context/space'],
    [{ context: { space: ['main'] } }, '/context/space'],
  ] as const) {
    const answer = await ask('/access/v1/evaluation', { ...yes, ...more })
    t.match(answer, { status: 400, json: { code: 'input_invalid', errors: [{ path }] } }, path)
    t.equal(answer.json.errors.length, 1, path)
  }
  for (const body of ['[]', 'null', '"x"', '7', '{}x', '{"subject":{},"subject":{}}', '\ufeff{}'])
    t.match(await ask('/access/v1/evaluation', body), { status: 400, json: { code: 'input_invalid' } }, body)
})
