package screening

import (
	"regexp"

	"coachline/models"
)

// Parts of the patterns. wants is what a person may do about a verb that
// follows, someone a person who is near and could do harm or be in danger.
const (
	wants = `(?:want(?:ed)? to|want|going to|about to|need to|plan(?:ning)? (?:to|on)|decided to|thinking (?:of|about)|thought (?:of|about)|` +
		`thoughts (?:of|about)|feel like|feeling like|ready to|trying to|tried to|might|ill|should|could|id like to|have to|urges? to|tempted to|` +
		`keep|been|started|close to|near to|afraid ill|scared ill|way to|ways to|how to|id|just|rather|going 2|want 2)`
	very    = `(?: (?:really|just|so|very|actually|all|seriously|like|literally|kind of|a bit|constantly|always|again|only|to|on))*`
	someone = `(?:he|hes|she|shes|they|theyre|husband|wife|boyfriend|bf|girlfriend|gf|partner|ex|dad|father|mom|mum|mother|stepdad|stepfather|` +
		`stepmom|uncle|someone|somebody|guy|man|men|roommate|neighbor|cousin|brother|son|daughter|sister|friend|grandpa|grandma|baby|kid|child)`
	active = `\b(?:gym|running|runs?|lifting|workouts?|working out|exercis(?:e|ing)|training|trainer|squats?|lunges?|push ?ups?|pushups?|yoga|` +
		`bench|treadmill|stairs|shaving|cooking|chopping|marathon|hike|hiking|bike|ran|leg day|sprints?|burpees?|jog(?:ging)?)\b`
	laughs = `\b(?:laugh(?:ing|ed|ter)?|lol|lmao|haha\w*|funny|hilarious|joke|risa|reir\w*|jaja\w*)\b`
)

func rx(pattern string) *regexp.Regexp { return regexp.MustCompile(`\b(?:` + pattern + `)\b`) }

// plainly is a sign that stands for itself; unless names what makes a figure of
// speech of it.
func plainly(pattern string) sign { return sign{pattern: rx(pattern)} }

func unless(except, pattern string) sign {
	return sign{pattern: rx(pattern), except: regexp.MustCompile(except)}
}

// denying is wording that says no by itself.
func denying(pattern string) sign { return sign{pattern: rx(pattern), denies: true} }

var signs = map[models.Danger][]sign{
	models.DangerSelfHarm: {
		plainly(`(?:will|mochte|werde|wollte|muss|konnte|gerne) (?:\w+ )?(?:mich (?:\w+ )?(?:umbringen|toten|erhangen|aufhangen|erschiessen|ritzen|verletzen)|sterben|tot sein|mir (?:\w+ )?(?:das leben nehmen|was antun|etwas antun))|(?:bring|bringe) mich (?:\w+ )?um|` +
			`(?:selbstmord|suizid)(?:gedanken|gefahrdet| begehen| machen)?|zu viele (?:tabletten|pillen)|(?:alle|ganze packung) (?:meine )?(?:tabletten|pillen) (?:genommen|geschluckt)`),
		denying(`(?:will|mochte|kann|mag) (?:\w+ )?nicht mehr (?:leben|da sein|weiterleben|aufwachen)|keinen (?:grund|sinn) (?:mehr )?(?:zu leben|im leben)`),
		unless(`\b(?:de faim|de soif|de rire|de fatigue|de froid|de chaud|de honte|mdr)\b`, `(?:veux|vais|envie|voudrais|voulu) (?:\w+ )?(?:de |d ?)?(?:me (?:suicider|tuer|pendre|couper|scarifier|faire du mal)|mourir|en finir|crever)|`+
			`(?:pense|penser|pensees?|idees?) (?:au |de |a )?suicid\w*|(?:jai )?(?:avale|pris) (?:trop|plein|toute|tous) (?:\w+ )*(?:medicaments?|cachets?|pilules?|comprimes?|boite)`),
		denying(`(?:veux|peux|ai) (?:plus|pas) (?:envie )?(?:de )?(?:vivre|exister|etre en vie)|plus (?:envie|aucune raison) de vivre`),
		unless(`\bmorrer de (?:fome|rir|sede|vergonha|frio|calor|saudade|sono|rir)\b`, `(?:quero|queria|vou|pensando em|vontade de|penso em) (?:\w+ )?(?:me (?:matar|suicidar|enforcar|cortar|machucar)|morrer|suicidio|acabar com (?:tudo|a minha vida|minha vida)|sumir do mundo)|me (?:matar|suicidar)|`+
			`tirar (?:a )?(?:minha )?propria vida|tirar minha vida|(?:tomei|engoli) (?:muit[oa]s|todos|um monte de|varios) (?:os )?(?:meus )?(?:remedios|comprimidos|medicamentos|pilulas)`),
		denying(`(?:nao|n) (?:quero|aguento|consigo) (?:mais )?(?:viver|existir|estar viv[oa])(?: mais)?|sem vontade de viver|nao tenho (?:mais )?(?:motivo|razao|vontade) (?:de|para|pra) viver`),
		unless(`\bkilling myself (?:at|in|with|working|trying|over|doing|studying|to (?:get|make|lose|finish|meet|fit))\b|\bwithout killing\b|`+
			`\bkill myself (?:at|in) (?:the|this|my|that) (?:gym|workout|training|class)\b`, `(?:kill|killing) myself`),
		unless(active+`|\bby accident\b|\baccidentally\b`, wants+very+` (?:hurt|hurting|harm|harming|cut|cutting|burn|burning|stab|starve|drown|poison|shoot|hang) myself`),
		plainly(`(?:hang|hanging|drown|drowning|shoot|shooting) myself|self harm(?:ing|ed)? again|(?:want to|ive|been|started|i) (?:self harm\w*|relapsed? (?:on|with) (?:cutting|self harm))`),
		plainly(wants + ` (?:commit|committing) suicide|(?:thinking|thoughts?|think|dreaming) (?:of|about) suicide|suicide is (?:the|my) only|` +
			`(?:im|feel|feeling|feels|been|getting|being|am|actively)` + very + ` suicidal|suicidal (?:thoughts?|feelings|ideation|right now|again|tonight)|` +
			`(?:my|a|the|this) suicide (?:note|plan)|(?:need|call|calling|number (?:of|for)) (?:the |a )?suicide (?:hotline|helpline|lifeline|line)|suicide hotline number`),
		unless(`\bdie (?:laughing|of|happy|from|for|hard|on the|in the|to|trying|peacefully|old|than)\b|\brather die\b|\bdont want to\b.*\bbut (?:i )?want to live\b`,
			`(?:want|wants|wanted|ready|wish i could|hope i|wish i would|let me|prefer|deserve|2)`+very+` (?:die|be dead)`),
		plainly(`wish (?:that )?i (?:was|were|wasnt|werent) (?:dead|alive|never born|here anymore)|wish i (?:was|were|had) never been born|wish i (?:wouldnt|didnt|dont|never) (?:have to )?(?:wake|woke) up|` +
			`(?:hope|hoping|pray) i (?:dont|wont|never) wake up|(?:id be|im|be|better|everyone is|theyre|theyd be|everyone would be|world is|would be) (?:all )?(?:better )?off (?:dead|without me)`),
		unless(`\bend it all with\b|\bthe relationship\b`, `(?:`+wants+` )?(?:end|ending|take|taking) my (?:own )?life(?: tonight| today| now)?|`+wants+very+` (?:end|ending) (?:it all|everything|my suffering|things for good|myself)`),
		unless(`\b(?:job|work|office|company|town|city|country|house|party|gym|class|school|program|state|apartment)\b`,
			`(?:dont|no longer) (?:really |even |just )?(?:want|wish|care) to be (?:here anymore|around anymore|on this (?:earth|planet))`).asDenial(),
		denying(`(?:dont|no longer|never) (?:really |even |just )?(?:want|wish|care) to (?:live(?: anymore| any longer)?$|live (?:anymore|any longer|like this anymore)|be alive|exist|wake up (?:anymore|tomorrow|again)|keep living|go on living|continue living|keep on living)`),
		denying(`(?:no|any|a) reason (?:left )?(?:to live|for living|to keep living|to go on living|to stay alive|to be alive)|nothing (?:left )?to live for|` +
			`cant (?:go on anymore|go on living|keep living|live anymore|live like this anymore)|(?:life|living) (?:is not|isnt|is no longer|aint) worth (?:it anymore|living)|not worth living`),
		denying(`(?:dont|cant|no longer) see (?:a|the|any) (?:reason|point) (?:to|in|of) (?:live|living|being alive|go(?:ing)? on living|life|staying alive)|(?:no|whats the) point (?:in|of) (?:living|being alive|life anymore)`),
		plainly(`(?:tired|sick|done) (?:of|with) (?:living|being alive|life$)|hate being alive|ready to end it|end it tonight|(?:blow|blew) my brains out|bullet (?:in|through) my (?:head|brain)|gun (?:to|in) my (?:head|mouth)|` +
			`(?:slit|slitting|cut|cutting) my (?:own )?(?:wrists?|arms?|veins|throat)|tie a noose|` +
			`(?:jump|jumping|throw myself) (?:off|from) (?:a|the|this|my) (?:bridge|building|roof|balcony|cliff)|(?:step|jump|jumping|walk|throw myself) (?:in front of|into) (?:a |the )?(?:train|traffic|bus|truck|car)`).butNot(active + `|\b(?:bungee|parachute|game|swing|ropes)\b`),
		unless(`\bvitamins?\b.*\bgumm|\bon (?:caffeine|sugar|coffee|chocolate|netflix|cheese|carbs|cookies)\b`,
			`(?:took|taken|swallowed|ate|take|taking|swallow) (?:all (?:of )?|a lot of |too many (?:of )?|a bunch of |the whole bottle of |a whole bottle of |a handful of )(?:my |the |these |sleeping |pain )*(?:pills?|meds|medication|tablets|painkillers|tylenol|xanax|sleeping pills)|`+
				`(?:i|ive|im|just|to|he|she|hes|shes|think i)(?: just| have| think i)* (?:overdosed|overdosing|overdose|od)|(?:drank|drinking|drink) (?:bleach|antifreeze|poison)`),
		plainly(someone + ` (?:(?:just )?(?:wants? to|is going to|going to|says \w+ wants to|is threatening to|is trying to|tried to|threatened to|trying to) (?:kill|hurt|hang) (?:himself|herself|themselves|themself)|is suicidal|took too many pills)`),
		plainly(`(?:me )?quiero` + masES + ` (?:matarme|morir|suicidarme|quitarme la vida|acabar con (?:mi vida|todo)|terminar con mi vida|desaparecer para siempre|cortarme|lastimarme|hacerme dano)|` +
			`me quiero (?:morir|matar|suicidar|lastimar|cortar)|me voy a (?:matar|suicidar|ahorcar|cortar las venas)|voy a (?:matarme|suicidarme|quitarme la vida|cortarme)|ganas de (?:morir|matarme|suicidarme|no vivir|desaparecer)`).butNot(`\bmorir de (?:risa|verguenza|hambre|sueno|calor|frio|ganas|pena)\b`),
		plainly(`(?:pienso|pensando|pensado|pensamientos|ideas) (?:en |de )?(?:el )?(?:suicidio|suicidarme|matarme|morir|quitarme la vida|suicidas)|cortarme las venas|quitarme la vida|mejor (?:muert[oa]|sin mi)|ojala (?:estuviera muert[oa]|me muriera|no despertara)`),
		denying(`(?:ya )?no (?:quiero|deseo|tengo ganas de|puedo) (?:vivir(?: mas| asi)?|seguir (?:viviendo|con vida)|estar viv[oa]|existir|despertar)|no (?:vale la pena|tiene sentido) (?:vivir|seguir viviendo|la vida)|sin ganas de vivir`),
		plainly(`(?:me )?(?:tome|tomado|trague) (?:muchas|demasiadas|todas (?:las|mis)) (?:pastillas|pildoras)|sobredosis`),
	},
	models.DangerHarm: {
		plainly(`mein (?:mann|freund|vater|ex|stiefvater|bruder|sohn|onkel|partner) (?:\w+ )?(?:schlagt|pruegelt|prugelt|wurgt|misshandelt|vergewaltigt|bedroht) mich|(?:er|sie|jemand) (?:schlagt|wurgt|misshandelt|vergewaltigt) mich|` +
			`ich (?:wurde|werde|bin) (?:\w+ )?(?:vergewaltigt|missbraucht|geschlagen|verprugelt|misshandelt|gewurgt)`),
		plainly(`(?:mon|ma) (?:mari|copain|pere|ex|conjoint|compagnon|beau pere|frere|fils|oncle|mec|femme|copine) (?:\w+ )?(?:me|m) ?(?:frappe|bat|tape|viole|etrangle|menace|a frappee?|a violee?)|(?:il|elle|on) (?:me|m) ?(?:frappe|bat|viole|etrangle)|` +
			`(?:jai|j ai) ete (?:\w+ )?(?:violee?|agressee?|battue?|frappee?)`),
		plainly(`(?:meu|minha) (?:marido|namorado|pai|ex|companheiro|padrasto|irmao|filho|tio|esposa|namorada) (?:\w+ )?me (?:bate|bateu|agride|agrediu|espanca|espancou|estuprou|enforca|ameaca)|(?:ele|ela) me (?:bate|bateu|agride|espanca|estuprou|enforcou)|` +
			`fui (?:\w+ )?(?:estuprad[oa]|violentad[oa]|espancad[oa]|agredid[oa]|abusad[oa])`),
		unless(`\bme (?:up|at|in (?:a|the|chess|cards|tennis|golf|bowling|basketball|monopoly|mario|pool)|to|by|with (?:a|the|that|this|some) (?:joke|idea|question|news|surprise|great|pillow|ball|offer)|for breakfast)\b|`+laughs,
			someone+`(?: (?:just|keeps|kept|is|was|has|always|sometimes|often|still|again|started|also|who|been|drunk|and|really|badly|physically|sexually|repeatedly))* (?:hits?|hitting|beats?|beating|punched|punches|punching|slapped|slaps|choked|chokes|choking|strangled|strangling|kicked|kicks|raped|rapes|raping|abused|abuses|abusing|molested|molests|stabbed|attacked|attacks|attacking|assaulted|burned|hurting) me`),
		unless(`\b(?:years? ago|when i was|as a (?:child|kid|teen|girl|boy)|long time ago|last year|growing up|in the past|by (?:mosquitos|ads|emails|a (?:song|dog)))\b`,
			`(?:im|i was|was just|ive been|i got|i just got|being|got) (?:just )?(?:physically |sexually )?(?:abused|beaten(?: up)?|raped|molested|assaulted|strangled|stabbed|trafficked|kidnapped|stalked|attacked|held (?:captive|hostage|against my will))`),
		unless(laughs+`|\bwith (?:his|her|their|all|the|this|that|these)\b|\bmy (?:trainer|coach|boss|kids?|cat|dog|teacher)\b`,
			someone+` (?:\w+ )?(?:is trying to|tried to|trying to|threatened to|threatens to|threatening to|is threatening to|wants to|keeps threatening to) (?:kill|hurt|rape|shoot|stab|strangle|beat) me`),
		unless(laughs, `(?:afraid|scared|think|worried|terrified|sure|know) (?:that )?(?:he|she|they|hes|shes|theyre|my (?:husband|wife|boyfriend|girlfriend|partner|ex|dad|father|stepdad|uncle))(?: is| are)? (?:will|might|could|may|going to|ill) (?:kill|hurt|beat|rape|shoot|stab|attack) me`),
		unless(`\b(?:at night|in this weather|on my bike|driving|of losing|of failing|with my (?:money|data|weight))\b|`+active,
			`(?:dont|do not|no longer|never) feel safe (?:at home|here|in my (?:own )?(?:home|house|apartment)|with (?:him|her|my \w+)|right now|around (?:him|her|them))|(?:im|we are|were) (?:in danger|not safe(?: here| at home| right now)?|unsafe at home)$|fear(?:ing)? for my life|afraid for my life|`+
				`(?:afraid|scared|terrified) (?:of my (?:husband|boyfriend|wife|girlfriend|partner|ex|dad|father|stepdad)|to go home)`).asDenial(),
		plainly(`(?:wont|doesnt|not) let me (?:leave the house|out of the (?:house|room)|go home)|locked me (?:in|up)|holding me (?:hostage|captive|against my will)|` +
			`(?:he|she|theyre|hes|shes|they|someone|somebody) (?:has|have|with|got) a (?:gun|knife|weapon)|(?:broke|breaking|break) into my (?:house|home|apartment) (?:right now|now)|(?:please |someone |can you |need to )+(?:call|send|get) (?:the )?(?:police|cops)`).asDenial(),
		unless(`\b(?:ajedrez|futbol|juego|videojuego|hace anos|cuando era)\b|`+laughs,
			`(?:mi )?(?:esposo|marido|pareja|novio|novia|esposa|ex|papa|padre|mama|madre|padrastro|tio|hermano|hijo|el|ella|alguien) (?:\w+ )?me (?:pega|golpea|pego|golpeo|viola|violo|maltrata|abusa|ahorca|ahorco|amenaza con matar\w*|amenazo con matar\w*|quiere matar|esta (?:pegando|golpeando|maltratando|amenazando))|`+
				`me (?:violaron|secuestraron|apunalaron|estan (?:pegando|golpeando|siguiendo|violando)|tiene encerrada|tiene encerrado)|(?:miedo|temo) (?:de|por) (?:mi vida|que me mate|volver a casa|mi (?:esposo|marido|novio))|abusa de mi|llam(?:a|en|e) a la policia`),
	},
	models.DangerEmergency: {
		unless(laughs+`|\b(?:wenn|falls|als ich|beim)\b`, `(?:krieg\w*|bekomm\w*|hab\w*) (?:\w+ )?keine luft|(?:ich )?kann (?:\w+ )?nicht (?:mehr )?atmen|(?:hab\w*|hat) (?:\w+ )?(?:einen )?(?:herzinfarkt|schlaganfall)|`+
			`(?:brauch\w*|ruf\w*) (?:\w+ )?(?:einen )?(?:krankenwagen|notarzt|rettungswagen)|atmet nicht mehr|(?:starke )?brustschmerzen|schmerzen in der brust`).asDenial(),
		unless(laughs+`|\b(?:quand|si|mdr)\b`, `(?:n?arrive|peux|parviens)(?: plus| pas)+ (?:a )?respirer|(?:fais|fait|avoir) une (?:crise cardiaque|attaque cardiaque)|(?:fais|fait) un (?:avc|infarctus)|`+
			`(?:appelle|appelez|besoin d) ?(?:une |un )?(?:ambulance|samu)|respire plus|douleurs? (?:\w+ )?(?:a la|dans la) poitrine|mal a la poitrine`).asDenial(),
		unless(laughs+`|\b(?:quando|se|kkk\w*)\b`, `(?:nao|n) (?:consigo|to conseguindo|estou conseguindo) respirar|(?:tendo|tive|teve|ter) um (?:infarto|avc|derrame|ataque cardiaco)|(?:chama|chame|chamem|preciso de) uma ambulancia|`+
			`(?:nao|n) (?:ta|esta) respirando|dor (?:\w+ )?no peito`).asDenial(),
		unless(notNow+`|\b(?:over|when i (?:saw|see|opened|heard)|bill|about this|at the (?:price|news))\b|`+laughs,
			`(?:im|think im|might be|may be|be|is|hes|shes|he was|she was|was just) having (?:a |an |another )?(?:heart attack|stroke|seizure|asthma attack|severe allergic reaction|cardiac arrest)|(?:just|hes|shes|im) had (?:a )?(?:heart attack|stroke|seizure)|(?:having|had) (?:a )?(?:stroke|seizure|heart attack) (?:right now|just now)`),
		unless(notNow+`|\b(?:last (?:week|year|month)|years? ago|after (?:bench|push|the)|sore|from (?:bench|push|coughing|laughing|the)|workout|used to)\b|`+active,
			`(?:i|ive|ive got|having|have|got|getting|feel|feeling|bad|severe|sharp|crushing|terrible|strong|with) (?:bad |severe |sharp |crushing |terrible |strong |really bad |some )*(?:chest pains?|pains? in (?:my|the) chest)|my chest (?:\w+ )?(?:hurts|is hurting|is tight|feels tight|is killing me)`),
		unless(notNow+`|`+laughs+`|`+active+`|\bbreathe (?:through|out of) my nose\b|\b(?:when i|so busy|so excited|in this heat|in these|in that|stuffy|stuffed|mask|jeans|dress|underwater|nose)\b`,
			`cant (?:really |even |hardly )?breathe|(?:struggling|hard|trouble|gasping|difficulty)(?: to| for)? (?:breathe|breathing)|trouble breathing|not able to breathe`).asDenial(),
		unless(notNow+`|\bas if\b`, `(?:he|she|hes|shes|it|`+someone+`) (?:is |has |just )?(?:not breathing|isnt breathing|stopped breathing|unconscious|unresponsive|not responding|isnt responding|wont wake up|not waking up|isnt waking up|collapsed|turning blue|choking$)|isnt breathing|not breathing|wont wake up`).asDenial(),
		unless(notNow, `(?:bleeding (?:out|badly|a lot|heavily|really bad|everywhere|so much)|(?:wont|doesnt|cant) stop (?:the )?bleeding|bleeding (?:wont|doesnt) stop|blood everywhere|(?:coughing|throwing|vomiting) (?:up )?blood|(?:been|got|was|just) (?:shot|stabbed)(?: in| by|$)|lost a lot of blood)`).asDenial().butNot(`\b(?:vaccine|flu|espresso|penalty)\b`),
		unless(notNow, `face is (?:drooping|numb)|(?:cant|dont) (?:feel|move) (?:my )?(?:left|right) (?:arm|leg|side)|one side of my (?:face|body)|throat is (?:closing|swelling)|swollen throat and|anaphyla\w+`).asDenial(),
		unless(notNow+`|\b(?:last (?:week|year|month|night)|yesterday|years? ago|had to|fund|room|kit|contact|money|savings|brake|exit)\b`,
			`(?:need|call|calling|get|send|someone call|called) (?:me )?(?:an |a |the )?ambulance|(?:please |someone |can you |need to |should i )+call 911|^call 911|(?:need|calling) 911|(?:this is|its|ive|i have|have|having) (?:a|an) (?:\w+ )?emergency|medical emergency|(?:need|going|have) to (?:go to|get to) (?:the )?(?:er|hospital) (?:right now|now|immediately)`),
		unless(notNow+`|\bdying (?:to|for|of|from|laughing|inside|over|here)\b|`+laughs+`|`+active, `(?:think|feel like|feels like|believe) im dying|im dying (?:help|please|right now)|help im dying`),
		unless(`\b(?:no tengo|si (?:me|tengo|alguien)|hace (?:anos|meses)|nariz)\b|`+laughs,
			`no puedo respirar|dolor (?:\w+ )?(?:en el|de) pecho|me duele (?:\w+ )?el pecho|(?:me esta dando|estoy teniendo|creo que (?:tengo|es)|tiene|tuvo|esta teniendo) (?:un )?(?:infarto|ataque al corazon|derrame|ataque cardiaco|paro cardiaco)|`+
				`(?:llam(?:a|en|e|ar)|necesito|manden|pide|pidan) (?:a )?(?:una )?(?:ambulancia|911|al 911)|estoy sangrando mucho|no (?:para|deja) de sangrar|(?:no respira|no despierta|esta inconsciente)|(?:es|tengo) una emergencia`).asDenial(),
	},
}

// notNow makes a sentence one about what might be, or was not.
const notNow = `\b(?:if|signs? of|symptoms? of|avoid|prevent|risk of|in case|almost|nearly|not an|isnt an|no emergency|survived|history of|stroke of|what to do)\b`

// masES are words between a Spanish wish and its verb.
const masES = `(?: (?:solo|ya|mejor|simplemente|de verdad|nomas))*`

// asDenial lets a sign hold a negation of its own.
func (s sign) asDenial() sign {
	s.denies = true
	return s
}

// butNot adds what makes a figure of speech of a sign.
func (s sign) butNot(except string) sign {
	s.except = regexp.MustCompile(except)
	return s
}
