/** A revocation as the gateway answered: what ended, which instances it reached, and what it cannot reach. */

import { html } from './markup.js'
import { countText, Facts, Icon, Name, number, rounded, Table, Time } from './pieces.js'
import { endedOf, howText, isLeft, scopeText, unreachedText } from './revocation-texts.js'
import { save } from './save.js'
import { Notice, Warnings } from './states.js'

/** @typedef {import('./answers.d.ts').CreatedRevocation} Revocation */

/** @param {{ of: Revocation }} props */
export function RevocationView({ of }) {
  const { id, at, reason, ended, instances, not_covered: notCovered, kept = [], warnings } = of
  return html`<div class="impact">
    <${State} of=${of} />
    <${Facts}
      rows=${[
        ['At', html`<${Time} at=${at} />`],
        ['Is void', scopeText(of)],
        ...(of.until === undefined ? [] : [['Block until', html`<${Time} at=${of.until} />`]]),
        ...(reason ? [['Reason', html`<bdi>${reason}</bdi>`]] : []),
        ['Id', html`<code>${id}</code>`],
      ]}
    />
    <${Ended} of=${ended} heading="What has ended" />
    ${kept.map(({ api_key: key }) => html`<p key=${key}>The API key <code>${key}</code>, which sent it, stays.</p>`)}
    <${Instances} of=${instances} isSent />
    <${NotCovered} of=${notCovered} />
    <${Warnings} warnings=${warnings} />
    <${Receipt} of=${of} />
  </div>`
}

/** @param {{ of: Revocation }} props */
function State({ of: { state, instances } }) {
  if (state === 'closed')
    return html`<${Notice}
      kind="done"
      title="Closed: every instance decides by it, and has cut what was open."
    />`
  const left = instances.filter(isLeft)
  return html`<${Notice}
    title="Partial: it is in force, but not every instance has said that it cut what was open."
  >
    ${left.length === 0 && html`<p>The instance that wrote it ended before its answer, so that it is not known which others it reached. Revoke once more for a complete answer: that is harmless.</p>`}
    ${
      left.length > 0 &&
      html`<p>What was open there may still be open, until the process ends:</p>
        <ul>
          ${left.map(
            (each) =>
              html`<li key=${each.id}>
                <b><${Name} of=${each.name} /></b> ${howText(each)}
              </li>`,
          )}
        </ul>
        <p>
          Stop or restart ${left.length === 1 ? 'this instance' : 'these instances'}, then revoke once more:
          that is harmless, and its answer is new.
        </p>`
    }
  <//>`
}

/** @param {{ of: Revocation['ended'], heading: string }} props */
export function Ended({ of, heading }) {
  const parts = endedOf(of)
  return html`<section>
    <h3>${heading}</h3>
    ${
      parts.length === 0
        ? html`<p>
            Nothing is open, and no session and no API key lasts. Tokens that were issued before are void.
          </p>`
        : html`<ul class="names">
            ${parts.map(({ count, one, many }) => html`<li key=${one}><b>${countText(count, one, many)}</b></li>`)}
          </ul>`
    }
  </section>`
}

/**
 * @param {{ of: Revocation['instances'], isSent?: boolean }} props isSent: of a revocation, whose instances have
 *   answered; otherwise they are yet to answer
 */
export function Instances({ of, isSent = false }) {
  if (of.length === 0) return null
  return html`<section>
    <h3>Instances</h3>
    <${Table}
      label="Instances"
      columns=${[['Instance'], ['Answer'], ['After', 'number'], ['Cut', 'number']]}
      rows=${of.map(
        (each) =>
          html`<tr key=${each.id}>
            <th scope="row">
              <${Name} of=${each.name} /><code class="small quiet wide-only">${each.id}</code>
            </th>
            <td>${isSent && isLeft(each) && html`<${Icon} name="warning" /> `}${howText(each)}</td>
            <td class="number">${each.ms === null ? '–' : `${rounded(each.ms)} ms`}</td>
            <td class="number">${each.cut === null ? '–' : number(each.cut)}</td>
          </tr>`,
      )}
    />
  </section>`
}

/** @param {{ of: Revocation['not_covered'] }} props */
export function NotCovered({ of }) {
  if (of.length === 0) return null
  return html`<section>
    <h3>What the gateway cannot reach</h3>
    <ul class="names">
      ${of.map(
        ({ what, until }) =>
          html`<li key=${what}>
            ${unreachedText(what)}${until ? html`, until <${Time} at=${until} />` : ''}
          </li>`,
      )}
    </ul>
  </section>`
}

/** @param {{ of: Revocation }} props */
function Receipt({ of: { id, receipt } }) {
  if (receipt === null)
    return html`<p class="quiet">
      There is no receipt: the gateway signs one if <code>identity</code> is configured.
    </p>`
  return html`<p>
    <button
      type="button"
      class="button"
      onClick=${() => save(`revocation-${id}.jwt`, 'application/jwt', `${receipt}\n`)}
    >
      Download the receipt
    </button>
  </p>`
}
