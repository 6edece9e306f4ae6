{{/* The name of everything: that of the release. */}}
{{- define "sandkeeper.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}

{{- define "sandkeeper.labels" -}}
app.kubernetes.io/name: sandkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* What selects pods of one component: (list . "run"). It never changes with the version. */}}
{{- define "sandkeeper.selector" -}}
app.kubernetes.io/name: sandkeeper
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "sandkeeper.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "sandkeeper.configMap" -}}
{{ .Values.existingConfigMap | default (include "sandkeeper.name" .) }}
{{- end -}}

{{/* The head of a pod of ours. Its variables would begin with SANDKEEPER_ too, were the Services linked. */}}
{{- define "sandkeeper.pod" -}}
enableServiceLinks: false
terminationGracePeriodSeconds: 40 # what was begun is finished first, up to 25 s
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The token is mounted only where the provider kubernetes asks with it. */}}
{{- define "sandkeeper.account" -}}
serviceAccountName: {{ include "sandkeeper.name" . }}
automountServiceAccountToken: {{ .Values.kubernetesProvider.enabled }}
{{- end -}}

{{- define "sandkeeper.security" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "sandkeeper.page" -}}
ports:
  - {name: sandkeeper, containerPort: 9595}
livenessProbe:
  httpGet: {path: /healthz, port: sandkeeper}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 6
{{- end -}}

{{- define "sandkeeper.readiness" -}}
readinessProbe:
  httpGet: {path: /readyz, port: sandkeeper}
  periodSeconds: 10
  timeoutSeconds: 6
{{- end -}}

{{/* The daemon's container, also for pods of yours: {{ include "sandkeeper.container" . }}. There it has no
readinessProbe: a pass that is late must not take your pods out of their Service. */}}
{{- define "sandkeeper.container" -}}
name: sandkeeper
image: {{ include "sandkeeper.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [run]
envFrom:
  - secretRef: {name: {{ .Values.secrets.keeper }}}
env:
  - {name: GOMEMLIMIT, value: {{ .Values.goMemoryLimit }}}
{{ include "sandkeeper.page" . }}
resources: {{- toYaml .Values.resources.run | nindent 2 }}
{{ include "sandkeeper.security" . }}
volumeMounts:
  - {name: sandkeeper-config, mountPath: /etc/sandkeeper, readOnly: true}
  - {name: sandkeeper-web, mountPath: /etc/sandkeeper-web, readOnly: true}
{{- end -}}

{{- define "sandkeeper.configVolume" -}}
- name: sandkeeper-config
  configMap: {name: {{ include "sandkeeper.configMap" . }}}
{{- end -}}

{{/* The volumes of that container. */}}
{{- define "sandkeeper.volumes" -}}
{{ include "sandkeeper.configVolume" . }}
- name: sandkeeper-web
  secret: {secretName: {{ .Values.secrets.web }}}
{{- end -}}
