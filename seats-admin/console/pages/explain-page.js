/** Explain: what the gateway answers to a request, stage by stage, by the code that decides requests. */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { address, hrefOf, setQuery } from '../address.js'
import { Choice, Field, spaceFault } from '../fields.js'
import { call } from '../gateway-calls.js'
import { refusalOf } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Name } from '../pieces.js'
import { givenBy } from '../seat-sources.js'
import { SetField } from '../set-field.js'
import { PageHeading, Refusal } from '../states.js'
import { useKnownSeats } from '../suggestions.js'

/**
 * The decision record, as `seatgate explain --json` prints it.
 *
 * @typedef {object} Route
 * @property {string} method
 * @property {string} path
 * @property {string} requirement
 * @property {{ kind: string, name?: string }} target
 * @property {{ file: string, line: number } | null} place
 *
 * @typedef {{ tenant: string, user: string, email: string | null }} Principal
 * @typedef {import('../answers.d.ts').ExplainedCaller} ExplainedCaller
 * @typedef
 *   {import('../answers.d.ts').DecisionRecord & { route: Route | null, principal: Principal | null, caller: ExplainedCaller }}
 *   DecisionRecord
 */

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
/** A call of an MCP server: its name is the path. */
const KINDS = ['tool', 'prompt', 'resource', 'method']
const CALLERS = /** @type {const} */ ([
  ['seats', 'a holder of Seats'],
  ['user', 'a user'],
  ['api_key', 'an API key'],
  ['none', 'no credential'],
])

/** @type {Readonly<Record<string, string>>} */
const VERDICTS = {
  grants: 'grants it',
  lacks_permission: 'lacks the permission',
  not_in_space: 'is not granted in this space',
  unknown: 'is not a Seat of the tenant',
  name_given_up: 'was given up after the token was issued',
}

/**
 * @typedef {{ method: string, path: string, space: string, by: string, who: string, seats: string[] }}
 *   Question
 */

/** @returns {Question} */
function fromAddress() {
  const { query } = address.peek()
  return {
    method: query.get('method') ?? 'GET',
    path: query.get('path') ?? '',
    space: query.get('space') ?? '',
    by: CALLERS.find(([each]) => each === query.get('by'))?.[0] ?? 'seats',
    who: query.get('who') ?? '',
    seats: (query.get('seats') ?? '').split('\n').filter(Boolean),
  }
}

/** @param {Question} question */
function bodyOf({ method, path, space, by, who, seats }) {
  return {
    method: methodOf(method.trim()),
    path: path.trim(),
    ...(space === '' ? {} : { space }),
    ...(by === 'seats' ? { seats } : {}),
    ...(by === 'user' ? { user: who } : {}),
    ...(by === 'api_key' ? { api_key: who.trim() } : {}),
  }
}

/**
 * Methods are in upper case, and the kinds of calls of MCP servers in lower case.
 *
 * @param {string} text
 */
function methodOf(text) {
  return KINDS.includes(text.toLowerCase()) ? text.toLowerCase() : text.toUpperCase()
}

/** The answer to a question. That to a former question is not shown beside the present one. */
function useAnswer() {
  const [record, setRecord] = useState(/** @type {DecisionRecord | null} */ (null))
  const [refusal, setRefusal] = useState(/** @type {import('../gateway-calls.js').Refused | null} */ (null))
  const [busy, setBusy] = useState(false)
  /** The number of questions. */
  const count = useRef(0)
  const forget = () => {
    count.current++
    setRecord(null)
    setRefusal(null)
    setBusy(false)
  }
  const ask = async (/** @type {Question} */ question) => {
    forget()
    setBusy(true)
    const { current: own } = count
    try {
      const answer = await call('POST', '/v1/access/explain', { body: bodyOf(question) })
      if (count.current === own) setRecord(/** @type {DecisionRecord} */ (answer))
    } catch (cause) {
      if (count.current === own) setRefusal(refusalOf(cause))
    }
    if (count.current === own) setBusy(false)
  }
  return { record, refusal, busy, forget, ask }
}

export function ExplainPage() {
  const [question, setQuestion] = useState(fromAddress)
  const { record, refusal, busy, forget, ask } = useAnswer()
  const { method, path, space, by, who, seats } = question
  const knownSeats = useKnownSeats()
  const change = (/** @type {Partial<Question>} */ changed) => {
    setQuestion({ ...question, ...changed })
    forget()
  }
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    if (spaceFault(space) !== null) return
    // A link to a colleague asks the same.
    setQuery({ ...question, seats: seats.join('\n') })
    void ask(question)
  }
  // Before the user changes the question: the answer is for the question of the link.
  useLayoutEffect(() => {
    const isWhole = path !== '' && (who !== '' || by === 'seats' || by === 'none')
    if (isWhole) void ask(question)
  }, [])
  return html`
    <${PageHeading} title="Explain" />
    <p class="lead">What the gateway would answer, and why. Nothing is sent to a service.</p>
    <form onSubmit=${submit} class="stack form">
      <${Choice}
        label="Who asks"
        value=${by}
        options=${CALLERS}
        onInput=${(/** @type {string} */ value) => change({ by: value, who: '' })}
      />
      ${by === 'seats' && html`<${SetField} label="Seats" one="Seat" values=${seats} separators=${/[,\n]+/} suggestions=${knownSeats.map(({ name }) => name)} onInput=${(/** @type {string[]} */ value) => change({ seats: value })} hint="Their names. None: a valid credential without a Seat." />`}
      ${by === 'user' && html`<${Field} label="Id of the user, or e-mail address" value=${who} required onInput=${(/** @type {string} */ value) => change({ who: value })} hint=${givenBy('explained')} />`}
      ${by === 'api_key' && html`<${Field} label="Id of the API key" value=${who} required onInput=${(/** @type {string} */ value) => change({ who: value })} hint="Its id in the list, never the key itself." />`}
      <div class="filters">
        <${Field}
          label="Method"
          value=${method}
          required
          suggestions=${[...METHODS, ...KINDS]}
          onInput=${(/** @type {string} */ value) => change({ method: value })}
        />
        <${Field}
          label="Path"
          value=${path}
          required
          onInput=${(/** @type {string} */ value) => change({ path: value })}
        />
        <${Field}
          label="Space"
          value=${space}
          fault=${spaceFault(space)}
          onInput=${(/** @type {string} */ value) => change({ space: value })}
        />
      </div>
      <div class="buttons start">
        <button type="submit" class="button primary" disabled=${busy}>${busy ? 'Asking…' : 'Explain'}</button>
      </div>
    </form>
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not explained" />`}
    ${record && html`<${Answer} of=${record} />`}
  `
}

/**
 * Who asks, as the question names it.
 *
 * @param {{ of: Pick<DecisionRecord, 'code' | 'principal' | 'caller'> }} props
 */
function Caller({ of: { code, principal, caller } }) {
  const { by, known } = caller
  if (known === null) return 'the request is decided without its credential.'
  if (by === 'none') return 'no caller. The request has no credential.'
  if (principal === null) return by === 'api_key' && !known ? NO_KEY : html`refused, <code>${code}</code>.`
  const of = html` of <${Name} of=${principal.tenant} />`
  if (by === 'api_key') return html`the API key <${Who} id=${principal.user} />${of}.`
  if (by === 'seats') return html`a holder of these Seats${of}, by a bearer token.`
  const state = code === 'caller_blocked' ? html` <b>The user is blocked.</b>` : null
  const user = html`<${Name} of=${principal.email ?? principal.user} />`
  if (!known) return html`${user}${of}. <b>${NO_SIGN_IN}</b>${state} ${AS_UNKNOWN}`
  const link = html`<a href=${hrefOf(['users'], { sub: principal.user })}>${user}</a>`
  return html`${link}${of}, by a bearer token.${state} ${givenBy('explained')}`
}

const NO_SIGN_IN = 'No sign-in of this user is known.'
const AS_UNKNOWN = 'The answer is that to a token without Seats.'
const NO_KEY = 'no caller. No API key of this id is known.'

/** @param {{ of: DecisionRecord }} props */
function Answer({
  of: { answer, code, reason, method, path, route, permission, principal, caller, space, seats, grantedIn },
}) {
  const isAllowed = answer === 'allow'
  const target =
    route?.target.kind === 'upstream' ? `to ${route.target.name}` : 'served by the gateway itself'
  return html`<section aria-live="polite">
    <h2 class="unseen">Answer</h2>
    <p class=${`verdict ${isAllowed ? 'good' : 'bad'}`}>
      ${isAllowed ? 'Allowed' : 'Refused'}${isAllowed ? null : html` <code>${code}</code>`}
    </p>
    <p><bdi>${reason}</bdi></p>
    <h3>Stages</h3>
    <ol class="stages">
      <li><b>Read</b>: <code>${method} ${path}</code></li>
      <li>
        <b>Match</b>:${' '}${
          route
            ? html`<code>${route.method} ${route.path}</code>,${' '}
                ${target}${route.place && html` (<code>${route.place.file}:${route.place.line}</code>)`}.${' '}
                It needs <code>${permission ?? route.requirement}</code>.`
            : 'no entry of the tables.'
        }
      </li>
      <li><b>Authenticate</b>: <${Caller} of=${{ code, principal, caller }} /></li>
      <li><b>Space</b>: ${space ? html`<code>${space}</code>.` : 'none.'}</li>
      <li>
        <b>Decide</b>:${' '}${seats.length === 0 ? 'no Seat is considered.' : null}
        <ul class="plain">
          ${seats.map(
            ({ name, id, verdict }) =>
              html`<li key=${name + (id ?? '')}>
                ${id ? html`<a href=${hrefOf(['seats', id])}><${Name} of=${name} /></a>` : html`<${Name} of=${name} />`}${` ${VERDICTS[verdict] ?? verdict}`}
              </li>`,
          )}
        </ul>
        ${grantedIn.length > 0 && html`<p>The Seats hold the permission in: <code>${grantedIn.join(', ')}</code>.</p>`}
      </li>
    </ol>
  </section>`
}
