# One image for web, worker, migrations and the offline judge; docker-compose.yml says which command each runs.
ARG PYTHON_IMAGE=python:3.11-slim
FROM ${PYTHON_IMAGE} AS packages
COPY requirements.txt /tmp/requirements.txt
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /tmp/requirements.txt

FROM ${PYTHON_IMAGE}
ENV PATH=/venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --create-home --uid 10001 rubricweb
COPY --from=packages /venv /venv
WORKDIR /app
COPY manage.py ./
COPY rubricweb ./rubricweb
COPY templates ./templates
COPY static ./static
COPY docs ./docs
RUN printf '#!/bin/sh\nexec python -m rubricweb.management.console "$@"\n' > /venv/bin/rubricweb \
 && chmod 755 /venv/bin/rubricweb \
 && install --directory --owner rubricweb /app/var
USER rubricweb
# The key of this one command signs nothing and stays in no layer.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(50))')" python manage.py collectstatic --no-input --verbosity 0
EXPOSE 8000
CMD ["gunicorn", "rubricweb.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "rubricweb.management.serving.web_worker.WebWorker", "--workers", "2", "--threads", "8", "--timeout", "60", "--worker-tmp-dir", "/dev/shm", "--no-control-socket"]
