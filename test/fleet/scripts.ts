/** Scripts of writers: each changes its own Seats, API keys or sessions, and states the answer that their callers get from then on. */

import { setTimeout as sleep } from 'node:timers/promises'
import { SPACE, TENANT } from './fleet.ts'
import type { Writing } from './writing.ts'

const LIST = 'trainings:list'
/** The answer to a token whose Seat does not grant the permission. */
const DENIED = 'permission_denied'

/** An endless sequence of writes, one for each step. */
export type Script = (writing: Writing, name: string) => AsyncGenerator<void>

/** Grants and revokes a permission that a token and an API key need. */
async function* permission(writing: Writing, name: string): AsyncGenerator<void> {
  const token = await writing.token(name, DENIED)
  const { id } = await writing.send('POST', '/v1/seats', seat(name), [[token, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [name] })
  const key = writing.key(name, made.key, 'allow')
  for (let granted = false; ; granted = !granted) {
    yield
    const answer = granted ? 'allow' : DENIED
    const permissions = [granted ? LIST : 'trainings:read']
    await writing.send('PUT', `/v1/seats/${id}`, { permissions }, [
      [token, answer],
      [key, answer],
    ])
  }
}

/** Moves a Seat from one space to another and back. */
async function* spaces(writing: Writing, name: string): AsyncGenerator<void> {
  const here = await writing.token(name, DENIED, SPACE)
  const there = await writing.token(name, DENIED, 's2')
  const { id } = await writing.send('POST', '/v1/seats', seat(name), [[here, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [name] })
  const key = writing.key(name, made.key, 'allow')
  for (let moved = true; ; moved = !moved) {
    yield
    await writing.send('PUT', `/v1/seats/${id}`, { spaces: [moved ? 's2' : SPACE] }, [
      [here, moved ? DENIED : 'allow'],
      [there, moved ? 'allow' : DENIED],
      [key, moved ? 'no_seat_in_space' : 'allow'],
    ])
  }
}

/** Renames a Seat repeatedly: a token does not follow the name, an API key follows the Seat. */
async function* rename(writing: Writing, name: string): AsyncGenerator<void> {
  let before = await writing.token(`${name}.0`, DENIED)
  const { id } = await writing.send('POST', '/v1/seats', seat(`${name}.0`), [[before, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [`${name}.0`] })
  writing.key(name, made.key, 'allow')
  for (let turn = 1; ; turn++) {
    yield
    const after = await writing.token(`${name}.${turn}`, DENIED)
    await writing.send('PUT', `/v1/seats/${id}`, { name: `${name}.${turn}` }, [
      [before, DENIED],
      [after, 'allow'],
    ])
    writing.remove(before)
    before = after
  }
}

/** Creates a Seat, deletes it and creates it again: the name revives no token, and the new Seat no API key. */
async function* remake(writing: Writing, name: string): AsyncGenerator<void> {
  for (let turn = 0; ; turn++) {
    const called = `${name}.${turn}`
    const token = await writing.token(called, DENIED)
    const first = await writing.send('POST', '/v1/seats', seat(called), [[token, 'allow']])
    yield
    const made = await writing.send('POST', '/v1/api-keys', { name: called, seats: [called] })
    const key = writing.key(called, made.key, 'allow')
    yield
    await writing.send('DELETE', `/v1/seats/${first.id}`, undefined, [
      [token, DENIED],
      [key, 'no_seat_in_space'],
    ])
    yield
    const second = await writing.send('POST', '/v1/seats', seat(called), [
      [token, DENIED],
      [key, 'no_seat_in_space'],
    ])
    yield
    await writing.send('DELETE', `/v1/seats/${second.id}`, undefined, [[token, DENIED]])
    yield
    writing.remove(token, key)
  }
}

/** Creates and revokes API keys. */
async function* keys(writing: Writing, name: string): AsyncGenerator<void> {
  await writing.send('POST', '/v1/seats', seat(name))
  for (let turn = 0; ; turn++) {
    yield
    const made = await writing.send('POST', '/v1/api-keys', { name: `${name}.${turn}`, seats: [name] })
    const key = writing.key(`${name}.${turn}`, made.key, 'allow')
    yield
    await writing.send('DELETE', `/v1/api-keys/${made.id}`, undefined, [[key, 'api_key_revoked']])
    writing.remove(key)
  }
}

/** Blocks a user and lets the user in again; a second block, for an hour, replaces the first. */
async function* blocks(writing: Writing, name: string): AsyncGenerator<void> {
  const user = `user of ${name}`
  await writing.send('POST', '/v1/seats', seat(name))
  const token = await writing.token(name, 'allow', SPACE, user)
  const other = await writing.token(name, 'allow', SPACE, `${user}, another`)
  for (;;) {
    yield
    const { id } = await writing.send('POST', '/v1/blocks', { user }, [
      [token, 'caller_blocked'],
      [other, 'allow'],
    ])
    yield
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await writing.send('POST', '/v1/blocks', { user, until }, [[token, 'caller_blocked']])
    yield
    await writing.send('DELETE', `/v1/blocks/${id}`, undefined, [[token, 'allow']])
  }
}

/** Milliseconds in which every gateway reads a new session into its memory. */
const SEEN = 25
const ENDED = 'token_invalid'

/** An administrator ends sessions: their tokens end with them. */
async function* sessions(writing: Writing, name: string): AsyncGenerator<void> {
  await writing.send('POST', '/v1/seats', seat(name))
  for (let turn = 0; ; turn++) {
    yield
    const { id, token } = await writing.session(name, `${name}.${turn}`, `${name}.${turn}`)
    await sleep(SEEN)
    await writing.send('DELETE', `/v1/sessions/${id}`, undefined, [[token, ENDED]])
    writing.remove(token)
  }
}

/** The provider logs users out, of one session there or of all. */
async function* logouts(writing: Writing, name: string): AsyncGenerator<void> {
  await writing.send('POST', '/v1/seats', seat(name))
  for (let turn = 0; ; turn++) {
    yield
    const user = `${name}.${turn}`
    const one = await writing.session(name, user, `${user}.one`)
    const same = await writing.session(name, user, `${user}.one`)
    const other = await writing.session(name, user, `${user}.other`)
    await sleep(SEEN)
    await writing.logOut({ sid: `${user}.one` }, [
      [one.token, ENDED],
      [same.token, ENDED],
      [other.token, 'allow'],
    ])
    yield
    await writing.logOut({ sub: user }, [[other.token, ENDED]])
    writing.remove(one.token, same.token, other.token)
  }
}

/** Applies files: one Seat gets the permission, another loses it, a third is renamed, all in one write. */
async function* files(writing: Writing, name: string): AsyncGenerator<void> {
  const [first, second, third] = [
    `${name}.first`,
    `${name}.second`,
    (turn: number) => `${name}.third.${turn}`,
  ]
  const [one, other] = [await writing.token(first, DENIED), await writing.token(second, DENIED)]
  let before = await writing.token(third(0), DENIED)
  const { spaces: there } = seat(name)
  const holding = (granted: boolean) => ({ spaces: there, permissions: [granted ? LIST : 'trainings:read'] })
  const apply = (seats: object, changes: Parameters<Writing['send']>[3]) =>
    writing.send('POST', '/v1/seats/apply', { tenant: TENANT, seats }, changes)
  await apply({ [first]: holding(true), [second]: holding(false), [third(0)]: holding(true) }, [
    [one, 'allow'],
    [other, DENIED],
    [before, 'allow'],
  ])
  for (let turn = 1; ; turn++) {
    yield
    const granted = turn % 2 === 0
    const after = await writing.token(third(turn), DENIED)
    const renamed = { ...holding(true), was: third(turn - 1) }
    await apply({ [first]: holding(granted), [second]: holding(!granted), [third(turn)]: renamed }, [
      [one, granted ? 'allow' : DENIED],
      [other, granted ? DENIED : 'allow'],
      [before, DENIED],
      [after, 'allow'],
    ])
    writing.remove(before)
    before = after
  }
}

function seat(name: string) {
  return { name, spaces: [SPACE], permissions: [LIST] }
}

export const SCRIPTS: readonly Script[] = [
  permission,
  spaces,
  rename,
  remake,
  keys,
  blocks,
  sessions,
  logouts,
  files,
]
