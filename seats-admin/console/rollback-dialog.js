/** The dialog that pushes the files of an earlier version: what it changes, who gains and loses, and the question. */

import { useState } from 'preact/hooks'
import { Dialog, DialogButtons } from './dialogs.js'
import { call, callForTag } from './gateway-calls.js'
import { useAction, useLoaded } from './loading.js'
import { html } from './markup.js'
import { number, Time } from './pieces.js'
import { Notice, Refusal, whenLoaded } from './states.js'

/** @typedef {import('./answers.d.ts').TablesChange} TablesChange */

/**
 * @param {object} props
 * @param {number} props.version
 * @param {Readonly<Record<string, string>>} props.files
 * @param {(isDone: boolean) => void} props.onClose
 */
export function RollbackDialog({ version, files, onClose }) {
  const [done, setDone] = useState(
    /** @type {import('./gateway-calls.js').Answer<'PUT', '/v1/tables'> | null} */ (null),
  )
  const plan = useLoaded(
    async (signal) => {
      // The tag comes first: a push in between is refused.
      const { body, etag } = await callForTag('GET', '/v1/tables', { query: { limit: '1' }, signal })
      const { changes } = await call('POST', '/v1/tables/plan', { body: { files }, signal })
      return { active: body, etag, changes }
    },
    [version],
  )
  const { busy, refusal, run } = useAction(async () => {
    const ifMatch = plan.value?.etag ?? ''
    setDone(await call('PUT', '/v1/tables', { body: { files }, ifMatch }))
  })
  const isInDoubt = refusal?.isInDoubt === true
  const close = () => onClose(done !== null || isInDoubt)
  return html`<${Dialog} title=${`Roll back to version ${version}?`} onClose=${close} busy=${busy} wide>
    ${
      done === null
        ? html`<div class="stack">
            ${whenLoaded(
              plan,
              'What it changes',
              ({ active, changes }) => html`
                <p>
                  Its files become a new version in place of version ${active.version}, which was pushed
                  ${' '}<${Time} at=${active.created_at} />.
                </p>
                <${PlannedChanges} of=${changes} />
              `,
            )}
            ${refusal && html`<${Refusal} refusal=${refusal} what=${isInDoubt ? 'It is not known whether it is active' : 'Not rolled back'} />`}
            <${DialogButtons}
              busy=${busy}
              onClose=${close}
              onRun=${run}
              text="Roll back"
              busyText="Waiting for every gateway…"
              kind="danger"
              disabled=${plan.value === null}
            />
          </div>`
        : html`<${Notice} kind="done" title=${`Version ${done.version} is active`}>
              <p>
                No gateway decides by the former tables: ${number(done.instances.length)} said so after
                ${' '}${number(done.took_ms)} ms.
              </p>
            <//>
            <div class="buttons">
              <button type="button" class="button primary" autofocus onClick=${close}>Close</button>
            </div>`
    }
  <//>`
}

/** The most changes that are shown. */
const MOST = 50

/** @type {Readonly<Record<TablesChange['kind'], string>>} */
const MEANING = {
  became_public: 'becomes public',
  loosened: 'requires less',
  added: 'is new',
  changed: 'requires another permission',
  tightened: 'requires more',
  removed: 'is gone',
  rerouted: 'leads to another upstream',
  limits: 'has other limits',
}

/** @param {{ of: readonly TablesChange[] }} props */
function PlannedChanges({ of }) {
  if (of.length === 0) return html`<p>No request is answered differently.</p>`
  return html`<div class="impact">
    <ul class="changes">
      ${of.slice(0, MOST).map(
        (change) =>
          html`<li key=${`${change.kind} ${change.method} ${change.host ?? ''}${change.pattern}`}>
            <code>${change.method} ${change.host ?? ''}${change.pattern}</code> ${MEANING[change.kind]}:
            ${' '}<code>${change.old?.permission ?? 'no entry'}</code>${' → '}<code
              >${change.new?.permission ?? 'no entry'}</code
            >
            <${Movers} of=${change} />
          </li>`,
      )}
      ${of.length > MOST && html`<li class="quiet">and ${number(of.length - MOST)} more</li>`}
    </ul>
  </div>`
}

/** @param {{ of: TablesChange }} props */
function Movers({ of: { seats, users, api_keys: keys } }) {
  const sides = /** @type {const} */ ([
    ['gain', 'Gains'],
    ['lose', 'Loses'],
  ])
  return sides.map(([side, verb]) => {
    const parts = [
      named('Seat', seats[side], seats[`${side}_count`]),
      named('user', users?.[side].map(({ sub, email }) => email ?? sub) ?? [], users?.[`${side}_count`] ?? 0),
      named('API key', keys?.[side].map(({ name }) => name) ?? [], keys?.[`${side}_count`] ?? 0),
    ].filter((each) => each !== null)
    return parts.length > 0 && html`<p class="quiet" key=${side}>${verb}: <bdi>${parts.join('; ')}</bdi></p>`
  })
}

/** The most names of one kind. */
const MOST_NAMES = 5

/**
 * @param {string} noun
 * @param {readonly string[]} names
 * @param {number} count
 */
function named(noun, names, count) {
  if (count === 0) return null
  const shown = names.slice(0, MOST_NAMES)
  const more = count - shown.length
  return `${noun}${count === 1 ? '' : 's'} ${shown.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`
}
