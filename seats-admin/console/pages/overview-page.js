/**
 * The overview: whether every instance is on the same state, when changes held, and what is decided as it
 * happens.
 */

import { useMemo, useRef, useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { call } from '../gateway-calls.js'
import { actionText } from '../differences.js'
import { writtenOf } from '../fleet-changes.js'
import { AUDIT, isOfOthers, useDecisions } from '../live-decisions.js'
import { refusalOf, useLoaded, useReadAgain } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { ageText, countText, Name, number, rounded, Table, Time } from '../pieces.js'
import { Empty, Loading, Notice, PageHeading, Refusal, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').Decision} Decision */
/** @typedef {import('../answers.d.ts').Answer<'GET /v1/fleet'>} Fleet */

/** Milliseconds: an instance that read its feed longer ago is silent. */
const SILENT = 1000

/** Rows of a table. */
const MAX_ROWS = 12

/** The line shows the times of all; the audit has the rest. */
const MAX_CHANGES = 5

export function OverviewPage() {
  return html`
    <${PageHeading} title="Overview" />
    <${Instances} />
    <${Decisions} />
  `
}

function Instances() {
  const fleet = useLoaded((signal) => call('GET', '/v1/fleet', { signal }), [])
  const old = useReadAgain(fleet)
  return html`
    <section>
      <h2>Instances</h2>
      ${whenLoaded(fleet, 'Instances', (value) => html`<${FleetTable} fleet=${value} old=${old} />`, old !== null)}
    </section>
    ${fleet.value && html`<${LastChanges} of=${fleet.value.changes} />`}
  `
}

/**
 * @param {{ fleet: Fleet, old: number | null }} props old: milliseconds since it was read, where a later
 *   reading has no answer
 */
function FleetTable({ fleet: { data, redis = null }, old }) {
  const hashes = Map.groupBy(
    data.filter(({ hash }) => hash !== null),
    ({ hash }) => hash,
  )
  const [usual] = [...hashes].sort(([, a], [, b]) => b.length - a.length)[0] ?? [null]
  const newest = Math.max(...data.map(({ seq }) => seq))
  const silent = data.filter(({ age_ms: age }) => age > SILENT)
  return html`
    <p class="lead">
      ${countText(data.length, 'instance')}.${' '}
      ${hashes.size > 1 ? html`<b>Their route tables differ.</b> ` : data.length > 1 ? 'All have the same route tables. ' : ''}
      ${silent.length > 0 ? html`<b>${countText(silent.length, 'instance')} did not read the feed for over a second.</b> ` : ''}
      ${redis === 'ok' ? 'Redis works, as the instance sees it that answers.' : null}
      ${redis === 'degraded' ? html`<b>Redis is not usable, as the instance sees it that answers.</b> Decisions go on without it; a sign-in may be refused.` : null}
    </p>
    <${Table}
      label="Instances"
      columns=${[
        ['Instance'],
        ['Version'],
        ['Change', 'number'],
        ['Feed read', 'number'],
        ['Tables'],
        ['Started', 'wide-only'],
      ]}
      rows=${data.map(
        ({ id, url, version, seq, age_ms: age, hash, refused = null, started_at: at }) =>
          html`<tr key=${id}>
            <th scope="row"><code>${url ?? id}</code></th>
            <td>${version ?? html`<span class="quiet">not told</span>`}</td>
            <td class="number">
              ${number(seq)}${seq < newest && html`<br /><span class="badge">behind</span>`}
            </td>
            <td class="number">
              <${FeedAge} age=${age} old=${old} />
            </td>
            <td>
              <code>${hash ?? '–'}</code
              >${hash !== null && hash !== usual && html`<br /><span class="badge danger">differs</span>`}
              ${refused !== null && html`<${RefusedFiles} of=${refused} />`}
            </td>
            <td class="wide-only"><${Time} at=${at} none="not told" /></td>
          </tr>`,
      )}
    />
  `
}

/** @param {{ of: NonNullable<Fleet['data'][number]['refused']> }} props */
function RefusedFiles({ of: { at, faults, first } }) {
  return html`<br /><span class="badge danger">refused</span>
    <p class="small"><${Time} at=${at} />: ${countText(faults, 'fault')}. ${first}</p>`
}

/** It counts on while the gateway does not answer. @param {{ age: number, old: number | null }} props */
function FeedAge({ age, old }) {
  const now = age + (old ?? 0)
  return html`${ageText(now)} ago<${Meter} value=${now} most=${SILENT} />${
      old !== null
        ? html`<span class="badge danger">old</span>`
        : age > SILENT && html`<span class="badge danger">silent</span>`
    }`
}

/** @param {{ of: Fleet['changes'] }} props */
function LastChanges({ of: changes }) {
  const newest = changes[0]?.seq ?? 0
  // What changed has its name there. Without the right to it, the kinds are shown alone, and it is asked
  // once.
  const isRefused = useRef(false)
  const audit = useLoaded(
    async (signal) => {
      if (isRefused.current) return []
      const { data } = await call('GET', AUDIT, { query: { limit: '100' }, signal }).catch((cause) => {
        isRefused.current = refusalOf(cause).status === 403
        throw cause
      })
      return data
    },
    [newest],
  )
  const written = useMemo(() => writtenOf(changes, audit.value ?? []), [changes, audit.value])
  const measured = written.filter(({ effectiveMs }) => effectiveMs !== null)
  const times = measured.map(({ effectiveMs }) => effectiveMs ?? 0).reverse()
  return html`<section>
    <h2>Last changes</h2>
    ${
      changes.length === 0
        ? html`<p class="quiet">None since this instance started.</p>`
        : html`
            <${Line}
              label="Milliseconds until each of the last changes held everywhere"
              values=${times}
              unit="ms"
            />
            <${Table}
              label="Last changes"
              columns=${[['When'], ['What'], ['Change', 'number'], ['Held everywhere after', 'number']]}
              rows=${written.slice(0, MAX_CHANGES).map(
                (each) =>
                  html`<tr key=${each.seq}>
                    <th scope="row"><${Time} at=${each.at} /></th>
                    <td><${What} of=${each} /></td>
                    <td class="number">${number(each.seq)}</td>
                    <td class="number">
                      ${each.effectiveMs === null ? html`<span class="quiet">not measured</span>` : `${rounded(each.effectiveMs)} ms`}
                    </td>
                  </tr>`,
              )}
            />
            ${measured.length < written.length && html`<p class="quiet small">Not measured: another instance or a command wrote it, or it does not hold everywhere yet.</p>`}
            <p><a href=${hrefOf(['audit'])}>Who changed what: the audit</a></p>
          `
    }
  </section>`
}

/** @param {{ of: import('../fleet-changes.js').Written }} props */
function What({ of: { kinds, entry } }) {
  const records = kinds.map((kind) => kind.replaceAll('-', ' ')).join(', ')
  if (entry === null) return records
  const { actor, action, target } = entry
  return html`<${Name} of=${actor.name ?? actor.id} /> ${actionText(action)}${' '}
    <b class="name"><bdi>${target.name ?? target.id}</bdi></b> <span class="quiet small">(${records})</span>`
}

function Decisions() {
  const { kept, lost, hasGap, state, refusal, again } = useDecisions()
  const [paused, setPaused] = useState(/** @type {Decision[] | null} */ (null))
  const [withOwn, setWithOwn] = useState(false)
  const all = paused ?? kept
  const others = useMemo(() => all.filter(isOfOthers), [all])
  const shown = withOwn ? all : others
  const hidden = all.length - others.length
  const byCode = useMemo(() => countsOf(shown, ({ code }) => code), [shown])
  const refused = useMemo(
    () =>
      countsOf(
        shown.filter(({ code }) => code !== 'allow'),
        ({ user, code, method, route, path, permission, space }) =>
          JSON.stringify([user, code, `${method} ${routePath(route) ?? path}`, permission, space]),
      ),
    [shown],
  )
  return html`
    <section>
      <div class="title-row">
        <h2>Decisions <span class="quiet">on this instance</span></h2>
        <div class="actions">
          <span class=${`badge ${state === 'live' ? 'valid' : ''}`} role="status"
            >${state === 'live' && paused ? 'paused' : state}</span
          >
          ${
            (state !== 'refused' || all.length > 0) &&
            html`<button
                type="button"
                class="button"
                title="Such as those of this console, and of colleagues who use it"
                onClick=${() => setWithOwn(!withOwn)}
              >
                ${withOwn ? 'Hide' : 'Show'}
                ${' '}${!withOwn && hidden > 0 ? countText(hidden, 'reading') : 'readings'} of the gateway
                itself
              </button>
              <button
                type="button"
                class="button"
                aria-pressed=${paused !== null}
                onClick=${() => setPaused(paused === null ? kept : null)}
              >
                ${paused === null ? 'Pause' : 'Continue'}
              </button>`
          }
        </div>
      </div>
      ${state === 'broken' && html`<${Broken} refusal=${refusal} again=${again} />`}
      ${state === 'refused' && refusal && html`<${Refusal} refusal=${refusal} again=${again} what="Decisions" />`}
      ${hasGap && html`<p class="quiet">Some decisions of the interruption are missing here.</p>`}
      ${lost > 0 && html`<p class="quiet">${countText(lost, 'decision')} came too fast for this page and ${lost === 1 ? 'is' : 'are'} missing here.</p>`}
      ${state === 'loading' && shown.length === 0 && html`<${Loading} what="Loading decisions" />`}
      ${state === 'live' && shown.length === 0 && html`<${Empty}><p>No request yet${hidden > 0 ? ' but readings of the gateway itself' : ''}. Decisions appear here as they happen.</p><//>`}
      ${shown.length > 0 && html`<${Bars} label=${`Results of the last ${countText(shown.length, 'decision')}`} rows=${byCode.map(([code, count]) => ({ name: code, count, isGood: code === 'allow' }))} />`}
    </section>
    ${refused.length > 0 && html`<${RefusedTable} of=${refused} />`}
    ${shown.length > 0 && html`<${Newest} of=${shown} />`}
  `
}

/** @param {{ refusal: import('../gateway-calls.js').Refused | null, again: () => void }} props */
function Broken({ refusal, again }) {
  return html`<${Notice}>
    <p>
      <span class="strong">The stream of decisions is interrupted.</span>${' '}
      ${refusal ? `${refusal.title}. ` : ''}The page connects again by itself, and then reads what it missed.
    </p>
    <button type="button" class="button" onClick=${again}>Connect now</button>
  <//>`
}

/**
 * @param {string | null} route its id
 * @returns {string | null}
 */
function routePath(route) {
  return route === null ? null : (route.split(' ')[1] ?? null)
}

/**
 * @param {readonly Decision[]} decisions
 * @param {(decision: Decision) => string} keyOf
 * @returns {[string, number][]} the most frequent first
 */
function countsOf(decisions, keyOf) {
  const counts = new Map()
  for (const each of decisions) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** @param {{ of: readonly [string, number][] }} props */
function RefusedTable({ of }) {
  return html`<section>
    <h2>Who was refused</h2>
    <${Table}
      label="Who was refused"
      columns=${[['Who'], ['Asked for'], ['Why'], ['Times', 'number']]}
      rows=${of.slice(0, MAX_ROWS).map(([key, count]) => {
        const [user, code, route, permission, space] = JSON.parse(key)
        return html`<tr key=${key}>
          <th scope="row">
            ${user ? html`<${Who} id=${user} withId />` : html`<span class="quiet">not known</span>`}
          </th>
          <td>
            <code>${route}</code
            >${permission && html`<br /><span class="small quiet">${permission}${space ? ` in ${space}` : ''}</span>`}
          </td>
          <td class="whole">
            <code><${Code} of=${code} /></code>
          </td>
          <td class="number">${number(count)}</td>
        </tr>`
      })}
    />
  </section>`
}

/** It wraps between its words. @param {{ of: string }} props */
function Code({ of }) {
  return of.split('_').map((word, at) => html`${at === 0 ? '' : '_'}<wbr />${word}`)
}

/** @param {{ of: readonly Decision[] }} props */
function Newest({ of }) {
  return html`<section>
    <h2>Newest</h2>
    <${Table}
      label="Newest decisions"
      columns=${[['When'], ['Result'], ['Request'], ['Who'], ['Space', 'wide-only']]}
      rows=${of.slice(0, MAX_ROWS).map(
        ({ id, at, code, method, path, space, user, request_id: requestId }) =>
          html`<tr key=${id}>
            <td class="nowrap"><${Time} at=${at} /></td>
            <td class="whole">
              <code class=${code === 'allow' ? 'good' : 'bad'}><${Code} of=${code} /></code>
            </td>
            <th scope="row">
              <code>${method} ${path}</code>
              <code class="small quiet wide-only">${requestId}</code>
            </th>
            <td class="who">${user ? html`<${Who} id=${user} />` : html`<span class="quiet">–</span>`}</td>
            <td class="wide-only">
              ${space ? html`<code>${space}</code>` : html`<span class="quiet">–</span>`}
            </td>
          </tr>`,
      )}
    />
  </section>`
}

// Charts as SVG and lists: their numbers are there as text too.

/** @param {{ label: string, rows: readonly { name: string, count: number, isGood: boolean }[] }} props */
function Bars({ label, rows }) {
  const most = Math.max(1, ...rows.map(({ count }) => count))
  return html`<figure class="bars">
    <figcaption>${label}</figcaption>
    <ul>
      ${rows.map(
        ({ name, count, isGood }) =>
          html`<li key=${name}>
            <code>${name}</code>
            <svg
              viewBox="0 0 100 10"
              preserveAspectRatio="none"
              aria-hidden="true"
              class=${isGood ? 'good' : 'bad'}
            >
              <rect width=${(100 * count) / most} height="10" rx="1" />
            </svg>
            <span class="number">${number(count)}</span>
          </li>`,
      )}
    </ul>
  </figure>`
}

/**
 * A number beside it says the same.
 *
 * @param {{ value: number, most: number }} props more than most is a fault
 */
function Meter({ value, most }) {
  return html`<svg
    viewBox="0 0 100 4"
    preserveAspectRatio="none"
    aria-hidden="true"
    class=${`meter ${value > most ? 'bad' : 'good'}`}
  >
    <rect width=${Math.min(100, (100 * value) / most)} height="4" />
  </svg>`
}

/** A line of fewer values says no more than its text. */
const FEWEST = 3

/** @param {{ label: string, values: readonly number[], unit: string }} props oldest first */
function Line({ label, values, unit }) {
  if (values.length === 0) return null
  const most = Math.max(0.1, ...values)
  const x = (/** @type {number} */ at) => (300 * at) / Math.max(1, values.length - 1)
  const points = values.map((value, at) => `${x(at).toFixed(1)},${(58 - (54 * value) / most).toFixed(1)}`)
  return html`<figure class="line">
    <figcaption>
      ${`${label}: at most `}<b>${rounded(most)} ${unit}</b
      >${`, the last one ${rounded(values.at(-1) ?? 0)} ${unit}`}
    </figcaption>
    ${
      values.length >= FEWEST &&
      html`<svg viewBox="0 0 300 60" preserveAspectRatio="none" aria-hidden="true">
        <polyline points=${points.join(' ')} />
      </svg>`
    }
  </figure>`
}
