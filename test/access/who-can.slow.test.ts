/** `who-can` and `can` give exactly what the decision engine allows, by brute force over random worlds. */

import fc from 'fast-check'
import t from 'tap'
import { accessRows, holdingOf, type HeldSeat } from '../../src/access/can.ts'
import {
  holdersPage,
  type Holder,
  type Position,
  positionOf,
  questionOfRequest,
} from '../../src/access/who-can.ts'
import { Refusal } from '../../src/model/errors.ts'
import { needsPermission } from '../../src/model/route.ts'
import { EVERY_METHOD, everyPath } from './random-tables.ts'
import { build, type Built, type Caller, SPACES, TENANT, worlds } from './worlds.ts'

const RUNS = 60
const SCOPE = { space: 'admin', admin: true, all: true, permissions: [] }
const DEPTH = 2
const REQUESTS = [...everyPath(DEPTH), '/v1/seats', '/v1/access/can'].flatMap((path) =>
  EVERY_METHOD.map((method) => ({ method, path })),
)

/** Of each entry, one request that reaches it. */
async function witnesses(built: Built) {
  const found = new Map<string, { method: string; path: string }>()
  for (const request of REQUESTS) {
    const { route } = await built.answer(null, { ...request, space: 'main' })
    if (route !== null && !found.has(route)) found.set(route, request)
  }
  return found
}

/** In pages of two, so that pages end within and between the lists. */
async function everyHolder(built: Built, request: { method: string; path: string }, space: string | null) {
  const question = questionOfRequest(built.tables, { ...request, host: null, space })
  if (question instanceof Refusal) throw new Error(question.detail)
  const all: Holder[] = []
  let after: Position | null = null
  for (;;) {
    const page = { limit: 2, after, scope: SCOPE, now: Date.now() }
    const { found, hasMore }: Awaited<ReturnType<typeof holdersPage>> = await holdersPage(
      built.store,
      TENANT,
      question,
      page,
    )
    all.push(...found)
    const last = found.at(-1)
    if (!hasMore || last === undefined) return { question, all }
    after = positionOf(last)
  }
}

async function spacesOf(built: Built, caller: Caller, request: { method: string; path: string }) {
  const spaces: string[] = []
  for (const space of SPACES)
    if ((await built.answer(caller, { ...request, space })).allowed) spaces.push(space)
  return spaces
}

t.test('who-can lists those whom the engine allows', async (t) => {
  await fc.assert(
    fc.asyncProperty(worlds(DEPTH), async (world) => {
      const built = await build(t, world)
      try {
        for (const [route, request] of await witnesses(built))
          for (const space of [null, 'main', 'else']) {
            const { question, all } = await everyHolder(built, request, space)
            if (question.route?.id !== route) throw new Error(`${route}: ${question.route?.id}`)
            const shown = new Map(all.map(({ kind, view }) => [kind === 'user' ? view.sub : view.id, view]))
            if (shown.size !== all.length) throw new Error(`${route}: a holder is listed twice`)
            const free = !needsPermission(question.permission ?? 'public')
            for (const caller of [...built.holders, ...built.keys]) {
              const allowed = await spacesOf(built, caller, request)
              const expected = !free && allowed.some((each) => space === null || each === space)
              const listed = shown.has(caller.id)
              if (listed !== expected)
                throw new Error(`${route} in ${space}: ${caller.seats}: ${listed ? 'made up' : 'missed'}`)
            }
            for (const holder of built.holders) {
              const allowed = await spacesOf(built, holder, request)
              const row = all.find(({ kind, view }) => kind === 'seat' && view.name === holder.seats[0])
              const spaces = row?.kind === 'seat' ? [...row.view.spaces].sort() : []
              const expected = free ? [] : allowed.filter((each) => space === null || each === space)
              t.strictSame(spaces, [...expected].sort(), { diagnostic: false })
              if (JSON.stringify(spaces) !== JSON.stringify([...expected].sort()))
                throw new Error(`${route}: ${holder.seats} in ${spaces}, not in ${expected}`)
            }
          }
      } finally {
        await built.close()
      }
    }),
    { numRuns: RUNS },
  )
})

t.test('can lists what the engine allows, and --not the rest', async (t) => {
  await fc.assert(
    fc.asyncProperty(worlds(DEPTH), async (world) => {
      const built = await build(t, world)
      const { routes } = built.tables.table
      try {
        const reached = await witnesses(built)
        for (const caller of [
          ...built.holders,
          ...built.keys.filter((_, at) => world.keys[at]?.state === 'valid'),
        ])
          for (const space of [null, 'main']) {
            const held = caller.seats.map((name): HeldSeat => {
              const seat = world.seats.find((each) => each.name === name)
              if (seat === undefined) throw new Error(name)
              return holdingOf(routes, space)(seat)
            })
            const asked = space === null ? [...new Set(held.flatMap(({ spaces }) => [...spaces]))] : [space]
            const rowsOf = (allowed: boolean) =>
              new Set(
                accessRows(routes, { accepted: true, seats: held }, { space, allowed }).map(
                  (row) => `${row.method} ${row.path} ${row.space}`,
                ),
              )
            const [may, mayNot] = [rowsOf(true), rowsOf(false)]
            for (const [route, request] of reached) {
              const entry = routes.find(({ id }) => id === route)
              const free = entry !== undefined && !needsPermission(entry.requirement)
              for (const each of free ? [null] : asked) {
                const { allowed } = await built.answer(caller, { ...request, space: each ?? 'main' })
                const [listed, excluded] = [may.has(`${route} ${each}`), mayNot.has(`${route} ${each}`)]
                if (listed !== allowed || excluded === allowed)
                  if (!(free && listed && !excluded))
                    throw new Error(`${route} in ${each}: ${listed}, ${excluded}, ${allowed}`)
              }
            }
          }
      } finally {
        await built.close()
      }
    }),
    { numRuns: RUNS },
  )
})
